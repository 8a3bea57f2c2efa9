import { realpath, rename, stat, unlink, writeFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import type { AgentType } from '../core/agent-type.ts'
import type { Diagnostic } from '../core/diagnostic.ts'
import { CadreError } from '../core/errors.ts'
import { agentText } from './agent-text.ts'
import { agentTree } from './agent-tree.ts'
import { adviceOn } from './advice.ts'
import { fixText } from './fix.ts'
import { parseAgentFile } from './parse.ts'
import type { Place } from './place.ts'
import { rankTypes } from './rank-types.ts'

/** What lint says of one file, documentation included (CMD-07). */
export type LintVerdict = {
  readonly path: string
  readonly kind: 'type' | 'documentation' | 'skipped'
  readonly type: AgentType | null
  readonly diagnostics: readonly Diagnostic[]
  /** Whether `--fix` changed the file; the verdict is about the fixed one. */
  readonly fixed: boolean
}

export type LintOptions = {
  /** Writes what `fixText` makes of each file. */
  readonly fix?: boolean
  /** How a file stands; default: a project file of a trusted root. */
  place?(path: string): Omit<Place, 'path'>
}

/**
 * Judges agent files: each path is a file or a folder (all `*.md` below it). Verdicts are in order of path within each folder. Rejects with
 * `NOT_FOUND` for a path that does not exist.
 */
export async function lint(paths: readonly string[], options: LintOptions = {}): Promise<readonly LintVerdict[]> {
  const verdicts: LintVerdict[] = []
  for (const path of paths.map((given) => resolve(given))) {
    const found = await stat(path).catch((cause: unknown) => {
      throw new CadreError('NOT_FOUND', `Nothing to lint at ${path}. Name an agent file or a folder of them.`, { cause })
    })
    if (!found.isDirectory()) verdicts.push(await judge(path, found.size, options))
    else verdicts.push(...await judgeFolder(path, options))
  }
  return verdicts
}

async function judgeFolder(folder: string, options: LintOptions): Promise<readonly LintVerdict[]> {
  const { files, problems } = await agentTree(folder)
  const verdicts: LintVerdict[] = problems.map((problem) => skipped(problem.path, problem))
  for (const { path, bytes } of files) verdicts.push(await judge(path, bytes, options))
  const { warnings } = rankTypes(verdicts.flatMap(({ type }) => (type ? [{ type, tree: folder }] : [])))
  return verdicts.map((verdict) => {
    const about = warnings.filter(({ path }) => path === verdict.path)
    return { ...verdict, diagnostics: [...verdict.diagnostics, ...about] }
  })
}

async function judge(path: string, bytes: number, { fix = false, place }: LintOptions): Promise<LintVerdict> {
  const before = await agentText({ path, bytes })
  if (typeof before !== 'string') return skipped(path, before)
  const text = fix ? fixText(before) : before
  if (text !== before) await replace(path, text)
  const parsed = parseAgentFile(text, { ...(place?.(path) ?? { scope: 'project', trusted: true, root: path }), path })
  const advice = parsed.type ? adviceOn(parsed.type, text) : []
  const diagnostics = [...parsed.diagnostics, ...advice].toSorted((a, b) => a.line - b.line)
  return { path, kind: parsed.kind, type: parsed.type, diagnostics, fixed: text !== before }
}

const skipped = (path: string, reason: Diagnostic): LintVerdict =>
  ({ path, kind: 'skipped', type: null, diagnostics: [reason], fixed: false })

/** Writes the file whole or not at all, through links, with its mode kept. */
async function replace(path: string, text: string): Promise<void> {
  const target = await realpath(path)
  const { mode } = await stat(target)
  const temporary = `${target}.${process.pid}.tmp`
  try {
    await writeFile(temporary, text, { mode, flag: 'wx' })
    await rename(temporary, target)
  } catch (error) {
    await unlink(temporary).catch(() => undefined)
    throw error
  }
}
