import { hash } from 'node:crypto'
import type { AgentType } from '../core/agent-type.ts'
import type { Diagnostic } from '../core/diagnostic.ts'
import { agentText } from './agent-text.ts'
import type { FoundFile } from './agent-tree.ts'
import { agentTree } from './agent-tree.ts'
import type { ParsedFile } from './parse.ts'
import type { ParsedBefore } from './parsed-before.ts'
import { parsedBefore } from './parsed-before.ts'
import type { Place } from './place.ts'
import type { Definition } from './rank-types.ts'
import type { ScopeFolder } from './scope-folders.ts'

/** A finding and the version of the file it is about: each is told once (TYP-19). */
export type Finding = { readonly diagnostic: Diagnostic; readonly version: string }

/** What all folders hold now. */
export type Scan = {
  readonly definitions: readonly Definition[]
  readonly findings: readonly Finding[]
  readonly skipped: readonly SkippedFile[]
}

/** A file that was meant as a type and gives none, or not its newest version. */
export type SkippedFile = { readonly path: string; readonly reason: Diagnostic }

/** One file as last read. `good` is what counts: the last version that could be used (SCO-11). */
type Known = {
  readonly path: string
  readonly stamp: string
  readonly version: string
  readonly parsed: ParsedFile
  readonly good: AgentType | null
}

/** Files read at the same time. */
const READ_AT_ONCE = 64

/**
 * Reads folders again and again, each time only what changed, and remembers the last good version of every file for as long as the file
 * exists.
 */
export function createTypeStore(): { scan(folders: readonly ScopeFolder[], changed?: ReadonlySet<string>): Promise<Scan> } {
  let known = new Map<string, Known>()

  async function scan(folders: readonly ScopeFolder[], changed: ReadonlySet<string> = new Set()): Promise<Scan> {
    const next = new Map<string, Known>()
    const definitions: Definition[] = []
    const findings: Finding[] = []
    const skipped: SkippedFile[] = []
    for (const folder of folders) {
      const tree = await agentTree(folder.path)
      const built = folder.scope === 'built-in' && known.size === 0 ? await parsedBefore(folder.path) : {}
      findings.push(...tree.problems.map((diagnostic) => ({ diagnostic, version: '' })))
      skipped.push(...tree.problems.map((reason) => ({ path: reason.path, reason })))
      for (let i = 0; i < tree.files.length; i += READ_AT_ONCE) {
        const batch = tree.files.slice(i, i + READ_AT_ONCE)
        const entries = await Promise.all(batch.map((file) => refresh(file, folder, known.get(keyOf(folder, file)), changed, built)))
        for (const entry of entries) {
          next.set(keyOf(folder, entry), entry)
          if (entry.good) definitions.push({ type: entry.good, tree: folder.path })
          findings.push(...entry.parsed.diagnostics.map((diagnostic) => ({ diagnostic, version: entry.version })))
          const reason = entry.parsed.type ? undefined : entry.parsed.diagnostics.at(-1)
          if (reason) skipped.push({ path: entry.path, reason })
        }
      }
    }
    known = next
    return { definitions, findings, skipped }
  }
  return { scan }
}

const keyOf = (folder: ScopeFolder, { path }: { readonly path: string }): string => `${folder.path}\0${path}`

async function refresh(
  file: FoundFile, folder: ScopeFolder, before: Known | undefined, changed: ReadonlySet<string>, built: ParsedBefore,
): Promise<Known> {
  if (before?.stamp === file.stamp && !changed.has(file.path)) return before
  const text = await agentText(file)
  const version = typeof text === 'string' ? hash('sha256', text) : file.stamp
  if (version === before?.version) return { ...before, stamp: file.stamp }
  const parsed = typeof text === 'string' ? (fromBuild(built[version], file.path) ?? await parse(text, { ...folder, path: file.path })) : unread(text)
  const good = parsed.type ?? before?.good ?? null
  return { path: file.path, stamp: file.stamp, version, parsed: parsed.type || !good ? parsed : stale(parsed, file.path), good }
}

const fromBuild = (type: ParsedBefore[string] | undefined, path: string): ParsedFile | null =>
  type ? { type: Object.freeze({ ...type, path }), kind: 'type', diagnostics: [] } : null

/** The parsers are loaded for the first file that needs them. */
const parse = async (text: string, at: Place): Promise<ParsedFile> => (await import('./parse.ts')).parseAgentFile(text, at)

const unread = (why: Diagnostic): ParsedFile => ({ type: null, kind: 'skipped', diagnostics: [why] })

/** One finding for an edit that made a file unusable: what is wrong, and that the version before it stays (SCO-11). */
function stale(parsed: ParsedFile, path: string): ParsedFile {
  const remedy = 'add one, or delete the file'
  const gone = { path, line: 1, severity: 'warning', message: 'the file has no frontmatter any more', remedy } as const
  const why = parsed.diagnostics.at(-1) ?? gone
  return { ...parsed, diagnostics: [{ ...why, remedy: `${why.remedy} (the last good version stays in use)` }] }
}
