import { existsSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { changesOf, type Changes } from './changes.ts'
import { openGit } from './git.ts'
import { refuseOwnPrograms } from './own-filters.ts'
import { registered } from './registry.ts'
import type { RepositoryWorktrees } from './repository-worktrees.ts'
import { isPoolable, type WorktreePool } from './worktree-pool.ts'
import { dropRecord, gitDirOfWorktree, type Worktree } from './worktree.ts'
import { refuseLinks } from './worktrees-folder.ts'

/** What became of a worktree (WKT-02, WKT-03). */
export type Ended =
  | { readonly kept: false; readonly path: string; readonly branch: string }
  | ({ readonly kept: true; readonly path: string; readonly branch: string; readonly base: string; /** Why git did not remove it though nothing is in it (WKT-06). */ readonly failure?: string } & Partial<Changes>)

/**
 * Removes a worktree and its branch if nothing is in it that is not in its base; else it stays, and stays locked for its owner. Only git removes
 * (or moves into the pool), after it confirmed there is nothing; if it fails the worktree stays and the failure is told (WKT-06).
 *
 * `landed`: a commit (id) of the branch whose content is known to be elsewhere: it then counts as the base.
 */
export async function endWorktree(
  { repository, pool, trustPrograms }: { readonly repository: RepositoryWorktrees; readonly pool: WorktreePool; readonly trustPrograms: boolean },
  worktree: Worktree,
  { landed, signal }: { readonly landed?: string; readonly signal?: AbortSignal } = {},
): Promise<Ended> {
  const { path, branch, base } = worktree
  let changes: Changes | null = null
  try {
    refuseLinks(repository.git.root)
    const git = openGit(path)
    if (!trustPrograms) await refuseOwnPrograms(git, signal)
    changes = await repository.onTree(() => changesOf(git, landed === undefined ? worktree : { ...worktree, base: landed }, signal))
    if (!changes.none) return { kept: true, path, branch, base, ...changes }
    const carried = worktree.carried !== null && landed === undefined
    const at = carried ? await commitCarried(worktree, signal) : changes.head
    const poolable = !carried && Object.keys(worktree.included).length === 0 && isPoolable(path)
    await repository.alone(async () => {
      await git.run(['update-ref', '--no-deref', 'HEAD', at], signal)
      if (!(poolable && (await pool.put(path)))) await removeWorktree(repository, path)
      await repository.git.run(['update-ref', '-d', `refs/heads/${branch}`, changes?.head ?? base])
    }, signal)
    return { kept: false, path, branch }
  } catch (error) {
    signal?.throwIfAborted()
    return { kept: true, path, branch, base, ...changes, failure: error instanceof Error ? error.message.trim() : String(error) }
  }
}

/** Makes the parent's uncommitted files, which are as they were, the commit HEAD is on: so git finds nothing changed, and removes without force. */
async function commitCarried({ path, carried, base }: Worktree, signal?: AbortSignal): Promise<string> {
  const git = openGit(path)
  const identity = { GIT_AUTHOR_NAME: 'Cadre', GIT_AUTHOR_EMAIL: 'cadre@localhost', GIT_COMMITTER_NAME: 'Cadre', GIT_COMMITTER_EMAIL: 'cadre@localhost' }
  await git.run(['read-tree', carried ?? base], signal)
  return (await git.run(['commit-tree', carried ?? base, '-p', base, '-m', 'Uncommitted files of the parent'], signal, { env: identity })).trim()
}

/** To be called inside of `alone`, once git has confirmed that nothing is in the worktree. Rejects with git's reason, and the worktree is there still. */
export async function removeWorktree({ git }: RepositoryWorktrees, path: string): Promise<void> {
  if ((await registered(git)).some((each) => each.path === path && each.lock !== null)) await git.run(['worktree', 'unlock', path])
  const forced = existsSync(path) && (await hasOnlyEmptySubmodules(path)) ? ['--force'] : []
  await git.run(['worktree', 'remove', ...forced, path])
  dropRecord(path)
}

/** git refuses to remove what has submodules, also where none of them was ever filled. */
async function hasOnlyEmptySubmodules(path: string): Promise<boolean> {
  const entries = (await openGit(path).run(['ls-files', '--stage', '-z'])).split('\0').filter((entry) => entry.startsWith('160000 '))
  const folders = entries.map((entry) => join(path, entry.slice(entry.indexOf('\t') + 1)))
  return folders.length > 0 && folders.every((folder) => !existsSync(folder) || readdirSync(folder).length === 0)
}

/** Completes a checkout that was cut off before any agent was in it, so that git can tell there is nothing in it. */
export async function completeCheckout(path: string, signal?: AbortSignal): Promise<void> {
  rmSync(join(gitDirOfWorktree(path), 'index.lock'), { force: true })
  await openGit(path).run(['reset', '--quiet', '--hard'], signal)
}
