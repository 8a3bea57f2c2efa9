import { mkdtempSync, readFileSync, readlinkSync, readdirSync, rmSync, rmdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Git } from './git.ts'
import { lookAt } from './look-at.ts'
import { changedBetween } from './overlaps.ts'
import { gitDirOf } from './repository.ts'
import { WorktreeError } from './worktree-error.ts'

/**
 * Takes back what a landing that was cut off has written into its checkout, whose index is still the old one. Only what the landing can have left
 * is touched: its new version, the beginning of it, or nothing at all; a file that holds anything else is the user's since, and stays.
 */
export async function undoFiles(git: Git, { from, to }: { readonly from: string; readonly to: string }): Promise<void> {
  const gitDir = gitDirOf(git.root)
  if (gitDir === null) throw new WorktreeError('NO_CHECKOUT', `${git.root} is no checkout of git any more.`)
  const changes = await changedBetween(git, from, to)
  const before = await entriesOf(git, from)
  const indexed = await indexEntries(git)
  const scratch = mkdtempSync(join(gitDir, 'cadre-undo-'))
  try {
    await extract(git, to, changes.filter(({ kind }) => kind !== 'D').map(({ path }) => path), scratch)
    const restore: string[] = []
    // Deepest first, so that folders the landing made are empty when their turn comes.
    for (const { kind, path } of changes.toSorted((a, b) => b.path.length - a.path.length)) {
      const state = stateOf(join(git.root, path), kind === 'D' ? null : join(scratch, path))
      if (kind === 'A') {
        if (state === 'written') removeFile(git.root, path)
      } else if (state !== 'other' && indexed.get(path) === before.get(path)) restore.push(path)
    }
    if (restore.length > 0) await git.run(['checkout-index', '--force', '-z', '--stdin'], undefined, { input: restore.map((path) => `${path}\0`).join('') })
  } finally {
    rmSync(scratch, { recursive: true, force: true })
  }
}

/** `other`: neither what the landing writes, nor a part of it. */
function stateOf(path: string, written: string | null): 'missing' | 'written' | 'other' {
  const stats = lookAt(path)
  if (!stats || stats.isDirectory()) return stats && readdirSync(path).length > 0 ? 'other' : 'missing'
  const wanted = written === null ? undefined : lookAt(written)
  if (written === null || !wanted) return 'other'
  if (stats.isSymbolicLink() || wanted.isSymbolicLink()) {
    return stats.isSymbolicLink() && wanted.isSymbolicLink() && readlinkSync(path) === readlinkSync(written) ? 'written' : 'other'
  }
  if (!stats.isFile() || stats.size > wanted.size) return 'other'
  const content = readFileSync(path)
  return content.equals(readFileSync(written).subarray(0, content.length)) ? 'written' : 'other'
}

/** Writes files of a commit below another folder, as a checkout would. */
async function extract(git: Git, commit: string, paths: readonly string[], folder: string): Promise<void> {
  const env = { GIT_INDEX_FILE: join(folder, '.cadre-index') }
  await git.run(['read-tree', commit], undefined, { env })
  await git.run(['checkout-index', '--force', `--prefix=${folder}/`, '-z', '--stdin'], undefined, { env, input: paths.map((path) => `${path}\0`).join('') })
}

/** Path → mode and id in a commit. */
async function entriesOf(git: Git, commit: string): Promise<ReadonlyMap<string, string>> {
  const lines = (await git.run(['ls-tree', '-r', '-z', commit])).split('\0').filter((line) => line !== '')
  return new Map(lines.map((line) => {
    const [mode = '', , id = ''] = line.split(/[ \t]/, 3)
    return [line.slice(line.indexOf('\t') + 1), `${mode} ${id}`]
  }))
}

/** Path → mode and id in the index. */
async function indexEntries(git: Git): Promise<ReadonlyMap<string, string>> {
  const lines = (await git.run(['ls-files', '--stage', '-z'])).split('\0').filter((line) => line !== '')
  return new Map(lines.map((line) => {
    const [mode = '', id = ''] = line.split(' ', 2)
    return [line.slice(line.indexOf('\t') + 1), `${mode} ${id}`]
  }))
}

function removeFile(root: string, path: string): void {
  rmSync(join(root, path), { force: true })
  for (let at = dirname(path); at !== '.'; at = dirname(at)) {
    try {
      rmdirSync(join(root, at))
    } catch {
      return // something is in it
    }
  }
}
