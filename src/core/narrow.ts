import type { PermissionMode } from './agent-type.ts'
import { typeKey } from './agent-type.ts'
import type { Grant, GrantedTool, Removal, Startable, ToolFacts } from './grant.ts'
import { childMode, heldBy, isLesser, keptMode } from './grant.ts'
import { nearest } from './nearest.ts'
import { DELEGATION_TOOLS, isKnownTool, KNOWN_SPELLINGS, parseToolEntry, toolsNamed } from './tool-names.ts'

/** What a type asks for. */
export type WantedByType = {
  readonly name: string
  readonly tools: readonly string[] | null
  readonly disallowedTools: readonly string[]
  readonly mode: 'explore' | 'build'
  readonly readOnly: boolean
  /** False: its program comes from an untrusted place and gets read-effect tools only (SCO-06). */
  readonly trusted: boolean
  readonly program: unknown
  readonly permissionMode?: PermissionMode
  readonly maxTurns?: number
  readonly timeout?: number
  /** Whether it keeps a memory (PRO-05). */
  readonly memory?: unknown
}

/** What the call that starts it asks for. */
export type WantedByCall = {
  readonly readOnly?: boolean
  readonly tools?: readonly string[]
  readonly maxTurns?: number
  /** seconds */
  readonly timeout?: number
}

export type Narrowed = {
  readonly grant: Grant
  readonly removed: readonly Removal[]
  readonly explore: boolean
  /** Names no tool has, each with the nearest one that exists (GRA-05). */
  readonly unknown: readonly { readonly written: string; readonly nearest: string | undefined }[]
  /** Notes for the result, such as a permission mode that does not count (PRM-02). */
  readonly notes: readonly string[]
}

/** Only a type that brings what they work on has these. */
const BEHALF: readonly string[] = ['memory']
const SHELL = 'bash'

const grantedTool = ({ name, effect }: ToolFacts): GrantedTool => ({ name, effect, only: [] })

/** The grant of the run nobody delegated: every tool there is. */
export function rootGrant(options: {
  readonly tools: readonly ToolFacts[]
  /** Default false. */
  readonly confinesShell?: boolean
  readonly root: string
  readonly paths?: readonly string[]
  readonly types?: boolean | readonly string[]
  readonly mode: PermissionMode
  readonly maxDepth: number
  readonly maxTurns: number
  readonly timeout: number
}): Grant {
  return {
    type: 'main',
    tools: options.tools.filter(({ name }) => !BEHALF.includes(name)).map(grantedTool),
    behalf: options.tools.filter(({ name }) => BEHALF.includes(name)).map(grantedTool),
    confinesShell: options.confinesShell ?? false,
    root: options.root,
    paths: options.paths ?? [],
    types: { only: options.types === undefined || options.types === true ? null : options.types === false ? [] : options.types, except: [] },
    mode: options.mode,
    depth: options.maxDepth,
    limits: { maxTurns: options.maxTurns, timeout: options.timeout },
    defaults: { maxTurns: options.maxTurns, timeout: options.timeout },
  }
}

/**
 * A child's grant: never wider than its parent's, one level shallower (GRA-01, 02, 04…08, 10). The layers run in one order, each can only
 * remove, and each removal remembers its layer. `asMain` narrows a root run to its `--agent` type: same depth, delegation tools by its list.
 */
export function narrow(parent: Grant, type: WantedByType, call: WantedByCall = {}, { asMain = false } = {}): Narrowed {
  const explore = isExplore(type, call)
  const listed = type.tools === null ? null : parseList(type.tools)
  const denied = parseList(type.disallowedTools)
  const named = call.tools === undefined ? null : parseList(call.tools)
  const depth = asMain ? parent.depth : Math.max(0, parent.depth - 1)
  const removed: Removal[] = []
  const keep = (layer: string, tools: readonly GrantedTool[], step: (tool: GrantedTool) => GrantedTool | null) =>
    tools.flatMap((tool) => {
      const kept = step(tool)
      if (kept === null) removed.push({ tool: tool.name, layer })
      return kept ?? []
    })

  let tools = parent.tools
  tools = keep(`disallowedTools of ${type.name}`, tools, (tool) => (denied.some((entry) => removes(entry, tool, parent)) ? null : tool))
  if (listed) tools = keep(`tools of ${type.name}`, tools, (tool) => restrict(tool, listed, parent))
  if (explore) tools = keep('mode explore', tools, (tool) => (changesThings(tool) ? readingShell(tool, parent, listed) : tool))
  if (type.program !== null && !type.trusted) tools = keep('program of an untrusted root', tools, (tool) => (tool.effect === 'read' ? tool : null))
  if (named) tools = keep('tools of the call', tools, (tool) => restrict(tool, named, parent))
  tools = keep('delegation (only a type that lists Agent, or a call that names it)', tools, (tool) =>
    DELEGATION_TOOLS.includes(tool.name) && !namesDelegation(listed, named, asMain && listed === null) ? null : tool)
  if (depth === 0) tools = keep('depth limit', tools, (tool) => (DELEGATION_TOOLS.includes(tool.name) ? null : tool))

  const behalf = parent.behalf.filter((tool) => !denied.some((entry) => removes(entry, tool, parent)))
  if (type.memory !== undefined && type.trusted) tools = [...tools, ...behalf.filter(({ name }) => name === 'memory')]

  const wantedMode = type.permissionMode
  const mode = childMode(parent.mode, wantedMode)
  return {
    grant: {
      type: type.name,
      tools,
      behalf,
      confinesShell: parent.confinesShell,
      root: parent.root,
      paths: parent.paths,
      types: narrowTypes(parent.types, [listed ?? [], named ?? []], denied),
      mode,
      depth,
      limits: {
        maxTurns: lower(call.maxTurns, type.maxTurns) ?? parent.defaults.maxTurns,
        timeout: lower(call.timeout, type.timeout) ?? parent.defaults.timeout,
      },
      defaults: parent.defaults,
    },
    removed,
    explore,
    unknown: unknownNames([...(listed ?? []), ...denied, ...(named ?? [])], parent),
    notes: wantedMode !== undefined && mode !== wantedMode ? [`permission mode ${wantedMode} of ${type.name} does not count: the parent's is ${parent.mode}`] : [],
  }
}

/**
 * The grant of an agent that goes on where another ended (STR-09): what that one held, as far as the agent that continues it may still give it.
 * The call's own limits and tools only take away.
 */
export function renarrow(held: Grant, parent: Grant, call: WantedByCall = {}): Grant {
  const named = call.tools === undefined ? null : parseList(call.tools)
  const depth = Math.min(held.depth, Math.max(0, parent.depth - 1))
  const tools = held.tools.flatMap((tool) => {
    const above = heldBy(parent, tool.name)
    if (above === undefined || !(isLesser(tool, above) || isLesser(above, tool)) || (depth === 0 && DELEGATION_TOOLS.includes(tool.name))) return []
    const within = { ...tool, effect: isLesser(tool, above) ? tool.effect : above.effect, only: [...tool.only, ...above.only] }
    return named === null ? [within] : (restrict(within, named, parent) ?? [])
  })
  const only = parent.types.only
  return {
    ...held,
    tools,
    behalf: held.behalf.filter(({ name }) => parent.behalf.some((tool) => tool.name === name)),
    confinesShell: held.confinesShell && parent.confinesShell,
    root: held.root,
    paths: held.paths.filter((path) => parent.paths.includes(path) || path === parent.root),
    types: {
      only: only === null ? held.types.only : (held.types.only ?? only).filter((name) => only.some((other) => typeKey(other) === typeKey(name))),
      except: [...new Set([...held.types.except, ...parent.types.except])],
    },
    mode: keptMode(parent.mode, held.mode),
    depth,
    limits: {
      maxTurns: lower(call.maxTurns, held.limits.maxTurns) ?? held.limits.maxTurns,
      timeout: lower(call.timeout, held.limits.timeout) ?? held.limits.timeout,
    },
  }
}

const lower = (a: number | undefined, b: number | undefined): number | undefined => (a === undefined || b === undefined ? (a ?? b) : Math.min(a, b))

/** GRA-05: the refusal when a narrowed grant holds nothing. */
export const noToolLeft = (type: Pick<WantedByType, 'name' | 'tools'>, parent: Grant, call: WantedByCall = {}): string => {
  const wanted = [...(type.tools ?? []), ...(call.tools ?? []).map((tool) => `${tool} (in the call)`)].join(', ') || 'nothing'
  return `No tool is left for ${type.name}: it asks for ${wanted}; available here: ${parent.tools.map(({ name }) => name).join(', ')}.`
}

type Entry = ReturnType<typeof parseToolEntry>
const parseList = (list: readonly string[]): readonly Entry[] => list.map(parseToolEntry)

/** GRA-08. */
function isExplore(type: WantedByType, call: WantedByCall): boolean {
  if (call.readOnly === true || type.readOnly) return true
  return type.mode === 'explore' && call.readOnly !== false
}

/** GRA-06: an explorer that lists bash has the one the kernel keeps from writing, where there is one. */
const readingShell = (tool: GrantedTool, parent: Grant, listed: readonly Entry[] | null): GrantedTool | null =>
  tool.name === SHELL && parent.confinesShell && listed?.some((entry) => entry.name !== '*' && names(entry, tool, parent)) ? { ...tool, effect: 'read' } : null

const changesThings = ({ effect }: ToolFacts): boolean => effect === 'write' || effect === 'execute'

const names = (entry: Entry, tool: ToolFacts, parent: Grant): boolean => toolsNamed(entry.name, parent.tools.map(({ name }) => name)).includes(tool.name)

/** A specifier in a deny list removes the whole tool, but for `Agent(<type>)`, which removes that type (GRA-04). */
const removes = (entry: Entry, tool: GrantedTool, parent: Grant): boolean =>
  names(entry, tool, parent) && !(tool.name === 'agent' && entry.specifier !== null)

/** What an allow list leaves of a tool: null when it does not name it, else its specifiers as one more layer. */
function restrict(tool: GrantedTool, list: readonly Entry[], parent: Grant): GrantedTool | null {
  const entries = list.filter((entry) => names(entry, tool, parent) || (DELEGATION_TOOLS.includes(tool.name) && tool.name !== 'agent' && names(entry, { name: 'agent', effect: 'delegate' }, parent)))
  if (entries.length === 0) return null
  const specifiers = entries.map(({ specifier }) => specifier)
  return tool.effect === 'delegate' || specifiers.includes(null) ? tool : { ...tool, only: [...tool.only, specifiers.filter((specifier) => specifier !== null)] }
}

const namesDelegation = (listed: readonly Entry[] | null, named: readonly Entry[] | null, all: boolean): boolean =>
  all || [...(listed ?? []), ...(named ?? [])].some((entry) => toolsNamed(entry.name, []).includes('agent'))

/** `Agent(a, b)` limits what may be started to a and b; `Agent(c)` in a deny list takes c out. */
function narrowTypes(above: Startable, allowLists: readonly (readonly Entry[])[], denied: readonly Entry[]): Startable {
  let only = above.only
  for (const list of allowLists) {
    const entries = list.filter((entry) => toolsNamed(entry.name, []).includes('agent'))
    if (entries.length === 0 || entries.some(({ specifier }) => specifier === null)) continue
    const wanted = entries.flatMap(typesOf)
    only = only === null ? wanted : only.filter((name) => wanted.some((other) => typeKey(other) === typeKey(name)))
  }
  const except = [...above.except, ...denied.filter((entry) => toolsNamed(entry.name, []).includes('agent')).flatMap(typesOf)]
  return { only, except: [...new Set(except)] }
}

const typesOf = ({ specifier }: Entry): readonly string[] => specifier?.split(',').map((name) => name.trim()).filter(Boolean) ?? []

function unknownNames(entries: readonly Entry[], parent: Grant): Narrowed['unknown'] {
  const available = parent.tools.map(({ name }) => name)
  return entries
    .filter((entry) => !isKnownTool(entry.name) && toolsNamed(entry.name, available).length === 0)
    .map(({ written, name }) => ({ written, nearest: nearest(name, [...KNOWN_SPELLINGS, ...available]) }))
}
