import { readdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Git } from './git.ts'
import { lookAt } from './look-at.ts'

type Change = { readonly kind: 'A' | 'M' | 'D'; readonly path: string }

/** Files that differ between two commits. */
export async function changedBetween(git: Git, from: string, to: string, signal?: AbortSignal): Promise<readonly Change[]> {
  const fields = (await git.run(['diff-tree', '-r', '-z', '--no-renames', '--name-status', from, to], signal)).split('\0')
  return fields.flatMap((kind, at) => {
    const path = fields[at + 1]
    return at % 2 === 0 && path !== undefined ? [{ kind: kind === 'A' || kind === 'D' ? kind : ('M' as const), path }] : []
  })
}

/**
 * The user's uncommitted files (staged, changed, untracked or ignored) that a checkout on `from` would lose if it went to `to` (WKT-10); sorted.
 * `env` may name another index. Changes nothing.
 */
export async function overlapsOf(git: Git, { from, to }: { readonly from: string; readonly to: string }, signal?: AbortSignal, env?: Readonly<Record<string, string>>): Promise<readonly string[]> {
  return overlapsWith(git, await uncommitted(git, from, signal, env), await changedBetween(git, from, to, signal))
}

/** As `overlapsOf`, with `uncommitted` and the changes known: for several steps from one commit. */
export function overlapsWith(git: Git, dirty: ReadonlySet<string>, changes: readonly Change[]): readonly string[] {
  const found = new Set(changes.filter(({ path }) => dirty.has(path)).map(({ path }) => path))
  const gone = new Set(changes.filter(({ kind }) => kind === 'D').map(({ path }) => path))
  for (const { kind, path } of changes) {
    if (kind !== 'A') continue
    const inTheWay = fileInTheWay(git.root, path, gone)
    if (inTheWay !== null) found.add(inTheWay)
  }
  // A staged file where a landing needs a folder, or below where it needs a file.
  for (const path of dirty) if (changes.some((each) => each.kind === 'A' && (each.path.startsWith(`${path}/`) || path.startsWith(`${each.path}/`)))) found.add(path)
  return [...found].toSorted()
}

/** What is on disk where a new file is to be and will not be taken away by the landing itself; null: nothing. Links are not followed. */
function fileInTheWay(root: string, path: string, gone: ReadonlySet<string>): string | null {
  for (let at = dirname(path); at !== '.'; at = dirname(at)) {
    const stats = lookAt(join(root, at))
    if (stats && !stats.isDirectory()) return gone.has(at) ? null : at
  }
  const stats = lookAt(join(root, path))
  if (!stats) return null
  return stats.isDirectory() ? firstFile(root, path, gone) : path
}

function firstFile(root: string, folder: string, gone: ReadonlySet<string>): string | null {
  for (const entry of readdirSync(join(root, folder), { withFileTypes: true })) {
    const path = `${folder}/${entry.name}`
    const found = entry.isDirectory() ? firstFile(root, path, gone) : gone.has(path) ? null : path
    if (found !== null) return found
  }
  return null
}

/** Tracked files whose content, on disk or staged, is not that of the commit. Looks at the whole tree. */
export async function uncommitted(git: Git, commit: string, signal?: AbortSignal, env?: Readonly<Record<string, string>>): Promise<ReadonlySet<string>> {
  const extra = env && { env }
  const staged = await git.run(['diff-index', '--cached', '--name-only', '--no-renames', '--ignore-submodules=none', '-z', commit], signal, extra)
  const onDisk = await git.run(['-c', 'diff.autoRefreshIndex=true', 'diff', '--name-only', '--no-renames', '--no-relative', '--no-ext-diff', '--no-textconv', '--ignore-submodules=dirty', '-z'], signal, extra)
  const hidden = (await git.run(['ls-files', '-v', '-z'], signal, extra)).split('\0').filter((line) => /^[a-z]/.test(line)).map((line) => line.slice(2))
  return new Set([...`${staged}${onDisk}`.split('\0'), ...hidden].filter((path) => path !== ''))
}
