import { isAbsolute, relative, resolve } from 'node:path'
import type { Git } from './git.ts'
import { hasOwnFilters } from './own-filters.ts'

/** Who last changed a line. `time` in ms since 1970; `commit` is the full id. */
export type BlamedLine = { readonly line: number; readonly author: string; readonly time: number; readonly commit: string }

/** The id git gives to lines that are in no commit yet. */
const UNCOMMITTED = /^0+$/

/**
 * Who last changed some lines (1-based) of a file, in their order in the file. A line is left out where git does not know: outside a
 * repository or the root, without a commit, in an untracked file, past the end, changed since the last commit; and everywhere in a repository
 * that has filters of its own, which git would run. Rejects only when aborted.
 */
export async function blame(git: Git, path: string, lines: readonly number[], signal?: AbortSignal): Promise<readonly BlamedLine[]> {
  const inside = relative(git.root, resolve(git.root, path))
  if (lines.length === 0 || inside.startsWith('..') || isAbsolute(inside)) return []
  const wanted = [...new Set(lines)].toSorted((a, b) => a - b)
  try {
    if (await filtersOf(git, signal)) return []
    return parse(await git.run(command(inside, wanted), signal))
  } catch (error) {
    signal?.throwIfAborted()
    const has = error instanceof Error ? /has only (\d+) lines?/.exec(error.message)?.[1] : undefined
    const there = wanted.filter((line) => line <= Number(has))
    return has === undefined || there.length === wanted.length ? [] : blame(git, path, there, signal)
  }
}

/** Asked once for each place: a sweep blames thousands of files. */
const known = new WeakMap<Git, boolean>()

async function filtersOf(git: Git, signal?: AbortSignal): Promise<boolean> {
  const found = known.get(git) ?? await hasOwnFilters(git, signal)
  known.set(git, found)
  return found
}

function command(path: string, lines: readonly number[]): readonly string[] {
  return ['blame', '--porcelain', '--no-textconv', ...ranges(lines).flatMap(([from, to]) => ['-L', `${from},${to}`]), '--', path]
}

/** Lines that follow each other as one range: git searches the history once per range. */
function ranges(lines: readonly number[]): readonly (readonly [number, number])[] {
  const found: [number, number][] = []
  for (const line of lines) {
    const last = found.at(-1)
    if (last?.[1] === line - 1) last[1] = line
    else found.push([line, line])
  }
  return found
}

/** Reads `git blame --porcelain`: a header per line, and who made a commit only where it is named first. */
function parse(output: string): readonly BlamedLine[] {
  const commits = new Map<string, { author: string; time: number }>()
  const blamed: { commit: string; line: number }[] = []
  let commit = ''
  for (const text of output.split('\n')) {
    const header = /^([0-9a-f]{40,64}) \d+ (\d+)/.exec(text)
    if (header) {
      commit = header[1] ?? ''
      blamed.push({ commit, line: Number(header[2]) })
      continue
    }
    const field = /^(author|author-time) (.*)$/.exec(text)
    if (!field) continue
    const known = commits.get(commit) ?? { author: '', time: 0 }
    commits.set(commit, field[1] === 'author' ? { ...known, author: field[2] ?? '' } : { ...known, time: Number(field[2]) * 1_000 })
  }
  return blamed
    .filter((each) => !UNCOMMITTED.test(each.commit))
    .map(({ line, commit: id }) => ({ line, commit: id, author: '', time: 0, ...commits.get(id) }))
}
