import type { AgentType } from '../core/agent-type.ts'
import type { Diagnostic } from '../core/diagnostic.ts'
import { formatDiagnostic } from '../core/diagnostic.ts'
import { CadreError, messageOf } from '../core/errors.ts'
import type { NamedType } from './find-type.ts'
import { asksForFork, findType, startedByModels } from './find-type.ts'
import { typesFromCode } from './in-code.ts'
import type { RankedTypes, ShadowedType } from './rank-types.ts'
import { rankTypes } from './rank-types.ts'
import type { ScopeFolder, ScopeOptions } from './scope-folders.ts'
import { pluginsFolder, scopeFolders } from './scope-folders.ts'
import { segmentProblem, typeSegment } from './type-segment.ts'
import type { Finding, Scan, SkippedFile } from './type-store.ts'
import { createTypeStore } from './type-store.ts'
import type { FolderWatch } from './watch.ts'
import { watchFolders } from './watch.ts'

export type TypeChange = { readonly added: readonly string[]; readonly changed: readonly string[]; readonly removed: readonly string[] }

export type RegistryOptions = ScopeOptions & {
  /** Types in code or from `--agents` (TYP-18). */
  readonly code: unknown
  /** Hears each finding once per file version (TYP-19), from `loadTypes` on. */
  onDiagnostic(diagnostic: Diagnostic): void
  /** Hears the names each reload changed (SCO-09). */
  onReload(change: TypeChange): void
}

/** `startable`: a model may ask for it. */
export type ListedType = NamedType & { readonly startable: boolean }

/** What a run in this root sees (TYP-21). Folders in order of scope, highest first; types in code rank below the first. */
export type TypeListing = {
  readonly types: readonly ListedType[]
  readonly shadowed: readonly ShadowedType[]
  readonly skipped: readonly SkippedFile[]
  readonly folders: readonly ScopeFolder[]
}

export type TypeRegistry = {
  list(): TypeListing
  /** The type a name means (TYP-16, TYP-17), also one only Cadre starts. */
  find(written: string): AgentType | undefined
  /** The type a model or user asked for; omitted means `general`. Throws `UNKNOWN_TYPE`. */
  require(written: string | undefined): AgentType
  /** The built-in type only Cadre starts, also when a type of the user's has its name (VER-02). */
  verifier(): AgentType | undefined
  /** Whether a name asks for `general` with the parent's conversation (TYP-17). */
  isFork(written: string): boolean
  /** The part of a system prompt that lists types (TYP-20). */
  segment(types: readonly AgentType[]): string
  /** Starts hot reload (SCO-09); resolves when changes from now on are seen. */
  watch(): Promise<void>
  close(): Promise<void>
}

/** How types in code are named in diagnostics. */
const CODE_SOURCE = '--agents'

const WATCH_REMEDY = 'changes may count only after a restart; on Linux raise fs.inotify.max_user_watches'

/** Loads the agent types of a root, from all scopes (SCO-01). Bad files are diagnostics; it rejects for no file. */
export async function loadTypes(options: RegistryOptions): Promise<TypeRegistry> {
  const store = createTypeStore()
  const inCode = typesFromCode(options.code, CODE_SOURCE)
  const told = createTeller(options)
  let folders = scopeFolders(options)
  let ranked: RankedTypes = { winners: [], shadowed: [], warnings: [] }
  let scanned: Scan = { definitions: [], findings: [], skipped: [] }
  let watching: FolderWatch | undefined
  let closed = false
  let last = Promise.resolve()

  async function rescan(changed: ReadonlySet<string>): Promise<TypeChange> {
    folders = scopeFolders(options)
    scanned = await store.scan(folders, changed)
    const code = inCode.types.map((type) => ({ type, tree: CODE_SOURCE }))
    const managed = scanned.definitions.filter(({ type }) => type.scope === 'managed')
    const before = ranked
    ranked = rankTypes([...managed, ...code, ...scanned.definitions.filter(({ type }) => type.scope !== 'managed')])
    told([...inCode.diagnostics, ...ranked.warnings].map((diagnostic) => ({ diagnostic, version: '' })).concat(scanned.findings))
    return changeBetween(before.winners, ranked.winners)
  }

  /** Scans run one after the other: a later one must not be overtaken by an earlier one. */
  function reload(changed: ReadonlySet<string>): Promise<void> {
    last = last.then(async () => {
      if (closed) return
      const change = await rescan(changed)
      watching?.follow(foldersOf(folders))
      if (change.added.length + change.changed.length + change.removed.length > 0) options.onReload(change)
    }).catch((error: unknown) => warn(`agent types could not be reloaded: ${messageOf(error)}`, 'the types loaded before stay in use'))
    return last
  }

  const warn = (message: string, remedy: string) =>
    options.onDiagnostic({ path: options.root, line: 1, severity: 'warning', message, remedy })
  const foldersOf = (list: readonly ScopeFolder[]) => ({ agents: list.map(({ path }) => path), plugins: pluginsFolder(options.home) })

  await rescan(new Set())
  return {
    list: () => ({
      types: ranked.winners.map((named) => ({ ...named, startable: startedByModels(named.type) })),
      shadowed: ranked.shadowed,
      skipped: scanned.skipped,
      folders,
    }),
    find: (written) => findType(ranked.winners, written),
    require(written = 'general') {
      const type = findType(ranked.winners, written)
      if (type && startedByModels(type)) return type
      const names = ranked.winners.filter((named) => startedByModels(named.type)).map((named) => named.type.name).toSorted()
      throw new CadreError('UNKNOWN_TYPE', `Unknown sub-agent type "${written}". Available: ${names.join(', ')}.`)
    },
    verifier: () => scanned.definitions.find(({ type }) => !startedByModels(type))?.type,
    isFork: (written) => asksForFork(ranked.winners, written),
    segment(types) {
      const problem = segmentProblem(types)
      if (problem) told.also({ diagnostic: problem, version: '' })
      return typeSegment(types)
    },
    async watch() {
      if (watching || closed) return
      watching = watchFolders(foldersOf(folders), {
        onChange: (paths) => void reload(paths),
        onError: (error) => warn(`agent folders cannot be watched: ${messageOf(error)}`, WATCH_REMEDY),
      })
      await watching.ready
      await reload(new Set())
    },
    async close() {
      closed = true
      await watching?.close()
      await last
    },
  }
}

function changeBetween(before: readonly NamedType[], after: readonly NamedType[]): TypeChange {
  const old = new Map(before.map(({ type }) => [type.name, type]))
  const now = new Map(after.map(({ type }) => [type.name, type]))
  const same = (a: AgentType, b: AgentType) => a.hash === b.hash && a.path === b.path && a.scope === b.scope
  return {
    added: [...now.keys()].filter((name) => !old.has(name)).toSorted(),
    changed: [...now].filter(([name, type]) => {
      const earlier = old.get(name)
      return earlier !== undefined && !same(earlier, type)
    }).map(([name]) => name).toSorted(),
    removed: [...old.keys()].filter((name) => !now.has(name)).toSorted(),
  }
}

/** Tells each finding once per version, again only after it was gone in between. */
function createTeller({ onDiagnostic }: RegistryOptions): ((findings: readonly Finding[]) => void) & { also(finding: Finding): void } {
  let told = new Set<string>()
  const extra = new Set<string>()
  const keyOf = ({ diagnostic, version }: Finding) => `${formatDiagnostic(diagnostic)}\0${version}`
  const tell = (findings: readonly Finding[]) => {
    const now = new Map(findings.map((finding) => [keyOf(finding), finding.diagnostic]))
    const fresh = [...now].filter(([key]) => !told.has(key))
    told = new Set(now.keys())
    for (const [, diagnostic] of fresh) onDiagnostic(diagnostic)
  }
  const also = (finding: Finding) => {
    if (extra.has(keyOf(finding))) return
    extra.add(keyOf(finding))
    onDiagnostic(finding.diagnostic)
  }
  return Object.assign(tell, { also })
}
