import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { openGit, type Git } from './git.ts'
import { lockProcess } from './process-lock.ts'
import { commonDirOf, gitDirOf } from './repository.ts'
import { turnstile } from './turnstile.ts'
import { WorktreeError } from './worktree-error.ts'
import { worktreesFolder } from './worktrees-folder.ts'

/** What everything that makes, moves or removes worktrees of one repository shares. */
export type RepositoryWorktrees = {
  /** The main checkout. */
  readonly git: Git
  /** `.cadre/worktrees` of it. */
  readonly folder: string
  /** The git folder all its checkouts share. */
  readonly commonDir: string
  /** Runs `change` while no other process, and nobody else here, changes the list of worktrees: git itself does not stand that. */
  alone<T>(change: () => Promise<T>, signal?: AbortSignal): Promise<T>
  /** Runs something that writes or reads a whole tree, not more of these at once than there are processors. */
  onTree<T>(work: () => Promise<T>): Promise<T>
}

/** How long a process may take to add one worktree: an endless wait would hide that it hangs. */
const PATIENCE_MS = 60_000

export function repositoryWorktrees(checkout: string): RepositoryWorktrees {
  const gitDir = gitDirOf(checkout)
  if (gitDir === null) throw new WorktreeError('NO_CHECKOUT', `${checkout} is no checkout of git. Name the top level of one.`)
  const commonDir = commonDirOf(gitDir)
  const oneByOne = turnstile(1)
  const trees = turnstile(availableParallelism())
  return {
    git: openGit(checkout),
    folder: worktreesFolder(checkout),
    commonDir,
    async alone(change, signal) {
      const next = await oneByOne()
      try {
        const unlock = await lockProcess(join(commonDir, 'cadre-worktrees.lock'), { signal, patienceMs: PATIENCE_MS })
        try {
          return await change()
        } finally {
          unlock()
        }
      } finally {
        next()
      }
    },
    async onTree(work) {
      const leave = await trees()
      try {
        return await work()
      } finally {
        leave()
      }
    },
  }
}
