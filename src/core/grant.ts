import type { PermissionMode } from './agent-type.ts'
import { typeKey } from './agent-type.ts'
import type { Effect } from './contract.ts'

/** `timeout` in seconds. */
export type Limits = { readonly maxTurns: number; readonly timeout: number }

/** What a tool needs to be granted. */
export type ToolFacts = { readonly name: string; readonly effect: Effect }

/**
 * A tool of a grant. Each list of `only` comes from one layer above: a call must match at least one specifier of *every* list, so adding a
 * layer can only take calls away. No list: every call.
 */
export type GrantedTool = ToolFacts & { readonly only: readonly (readonly string[])[] }

/** Which agent types may be started: those in `only` (null: all) that are not in `except`. Compared by `typeKey`. */
export type Startable = { readonly only: readonly string[] | null; readonly except: readonly string[] }

/** The rights of one agent, as plain data (GRA-01). Only `rootGrant` and `narrow` make one. */
export type Grant = {
  readonly type: string
  readonly tools: readonly GrantedTool[]
  /** Tools kept for types below that bring what these work on, whatever the lists between say (GRA-11). */
  readonly behalf: readonly GrantedTool[]
  /** Whether the kernel can keep a shell from writing: then an agent that may only read may have one (GRA-06). */
  readonly confinesShell: boolean
  /** The folder it works in, and further ones its path tools may enter (absolute, real paths). */
  readonly root: string
  readonly paths: readonly string[]
  readonly types: Startable
  readonly mode: PermissionMode
  /** Layers of delegation still allowed below this agent. */
  readonly depth: number
  readonly limits: Limits
  /** What a child gets that is given no limits of its own (KIN-11, 12): the settings', not its parent's. */
  readonly defaults: Limits
}

/** A tool the parent has and the child has not, and the layer that took it. */
export type Removal = { readonly tool: string; readonly layer: string }

/** GRA-07: decided by the resolved tools alone. */
export const isReadOnly = (grant: Grant): boolean => grant.tools.every(({ effect }) => effect !== 'write' && effect !== 'execute')

/** How many layers of delegation may lie below an agent; 0: it cannot delegate. */
export const levelsBelow = ({ tools, depth }: Grant): number => (tools.some(({ effect }) => effect === 'delegate') ? depth : 0)

export const mayStart = (grant: Grant, type: string): boolean => grant.depth > 0 && mayName(grant, type)

/** Whether it may start a type, but for its depth. */
export const mayName = ({ types }: Grant, type: string): boolean => startable(types, type)

const startable = ({ only, except }: Startable, type: string): boolean => {
  const named = (list: readonly string[]) => list.some((name) => typeKey(name) === typeKey(type))
  return (only === null || named(only)) && !named(except)
}

/** Whether every right of `child` is also a right of `parent`. What property tests hold on to. */
export function isWithin(child: Grant, parent: Grant): boolean {
  return child.tools.every((tool) => {
    const above = heldBy(parent, tool.name)
    return above !== undefined && isLesser(tool, above) && above.only.every((layer) => tool.only.some((own) => own.every((specifier) => layer.includes(specifier))))
  })
    && child.paths.every((path) => parent.paths.includes(path) || path === parent.root)
    && (parent.types.only === null || child.types.only?.every((name) => !startable(child.types, name) || startable(parent.types, name)) === true)
    && parent.types.except.every((name) => !startable(child.types, name))
    && child.depth <= parent.depth
    && (parent.mode === 'plan' ? child.mode === 'plan' : MODE_RANK[child.mode] <= Math.max(MODE_RANK[parent.mode], MODE_RANK[DEFAULT_FLOOR]))
}

/** A tool an agent has, or keeps for those below it. */
export const heldBy = ({ tools, behalf }: Grant, name: string): GrantedTool | undefined => [...tools, ...behalf].find((tool) => tool.name === name)

/** Of one name, with one effect; or it only reads what the other changes: a shell that the kernel confines. */
export const isLesser = (tool: ToolFacts, above: ToolFacts): boolean =>
  tool.name === above.name && (tool.effect === above.effect || (tool.effect === 'read' && above.effect === 'execute'))

/** What no parent needs to hold for a child to have it: asking. `dontAsk` and `plan` only deny more. */
const DEFAULT_FLOOR: PermissionMode = 'default'

const MODE_RANK: Readonly<Record<PermissionMode, number>> = { plan: 0, dontAsk: 1, default: 2, acceptEdits: 3, auto: 4, bypassPermissions: 5 }

/** STR-09: the mode it had, or what of it this parent leaves. */
export function keptMode(parent: PermissionMode, held: PermissionMode): PermissionMode {
  const allowed = childMode(parent, held)
  return MODE_RANK[allowed] > MODE_RANK[held] ? held : allowed
}

/** PRM-02: the child's mode, never more permissive than the parent's. */
export function childMode(parent: PermissionMode, wanted: PermissionMode | undefined): PermissionMode {
  if (parent === 'bypassPermissions' || parent === 'acceptEdits' || parent === 'auto' || parent === 'plan') return parent
  return wanted === undefined || MODE_RANK[wanted] > MODE_RANK[DEFAULT_FLOOR] ? parent : wanted
}
