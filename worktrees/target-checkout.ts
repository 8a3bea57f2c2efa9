import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Git } from './git.ts'
import { gitDirOf } from './repository.ts'
import { registered } from './registry.ts'
import { WorktreeError } from './worktree-error.ts'

/** Where a branch is checked out; `busy` where a rebase or bisect of the user holds it; null: nowhere. */
export async function targetCheckout(git: Git, branch: string, signal?: AbortSignal): Promise<{ readonly path: string; readonly busy: boolean } | null> {
  const all = await registered(git, signal)
  const busy = all.find(({ path }) => heldBy(path).includes(branch))
  if (busy) return { path: busy.path, busy: true }
  const on = all.filter((each) => each.branch === branch)
  if (on.length > 1) throw new WorktreeError('LOCKED', `The branch ${branch} is checked out in ${on.map(({ path }) => path).join(' and ')}: nothing can land on it. Switch all but one of them to another branch.`)
  return on[0] ? { path: on[0].path, busy: false } : null
}

/** Branches a checkout will move when what the user is at has ended. */
function heldBy(top: string): readonly string[] {
  const gitDir = existsSync(top) ? gitDirOf(top) : null
  if (gitDir === null) return []
  return ['rebase-merge/head-name', 'rebase-apply/head-name', 'BISECT_START'].flatMap((name) => {
    const file = join(gitDir, name)
    return existsSync(file) ? [readFileSync(file, 'utf8').trim().replace(/^refs\/heads\//, '')] : []
  })
}
