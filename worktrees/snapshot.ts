import { copyFileSync, existsSync, rmSync } from 'node:fs'
import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import type { Git } from './git.ts'
import { gitDirOf } from './repository.ts'
import { WorktreeError } from './worktree-error.ts'

/**
 * The tree (id) of a checkout as its files are now, ignored ones left out. Neither its index nor its files are touched: git works on a copy of the
 * index. `env` may send the objects elsewhere.
 */
export async function snapshot(git: Git, signal?: AbortSignal, env: Readonly<Record<string, string>> = {}): Promise<string> {
  const gitDir = gitDirOf(git.root)
  if (gitDir === null) throw new WorktreeError('NO_CHECKOUT', `${git.root} is the top level of no checkout any more.`)
  const copy = join(gitDir, `cadre-snapshot-${randomUUID()}`)
  try {
    if (existsSync(join(gitDir, 'index'))) copyFileSync(join(gitDir, 'index'), copy)
    const extra = { env: { ...env, GIT_INDEX_FILE: copy } }
    await git.run(['add', '--all', '--ignore-errors', '.'], signal, extra)
    return (await git.run(['write-tree'], signal, extra)).trim()
  } finally {
    rmSync(copy, { force: true })
    rmSync(`${copy}.lock`, { force: true })
  }
}
