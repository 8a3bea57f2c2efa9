import { createHash } from 'node:crypto'
import { existsSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { completeCheckout, removeWorktree } from './end-worktree.ts'
import { openGit } from './git.ts'
import { copyIncluded } from './included-files.ts'
import type { RepositoryWorktrees } from './repository-worktrees.ts'
import { gitDirOfWorktree } from './worktree.ts'
import { makeWorktreesFolder } from './worktrees-folder.ts'

/** A place where combined trees are verified; only for whoever holds the queue's lock. */
export type ScratchCheckout = {
  /**
   * Puts a commit there and answers the folder. Nothing that is neither of the commit nor ignored stays; ignored files (build caches, installed
   * packages, what `.worktreeinclude` brought) do, so that verifying again is quick.
   */
  show(commit: string, signal?: AbortSignal): Promise<string>
  remove(): Promise<void>
}

/** One for each target branch of a repository, `.cadre/worktrees/.queue-<hash>`; made when first used, and used again by later processes. */
export function createScratchCheckout(repository: RepositoryWorktrees, ref: string): ScratchCheckout {
  const path = join(repository.folder, `.queue-${createHash('sha256').update(ref).digest('hex').slice(0, 8)}`)
  const git = openGit(path)

  async function make(commit: string, signal?: AbortSignal): Promise<void> {
    makeWorktreesFolder(repository.git.root)
    await repository.alone(() => repository.git.run(['worktree', 'add', '--quiet', '--no-checkout', '--detach', '--lock', '--reason', 'verifies what the merge queue is to land', path, commit], signal), signal)
    await git.run(['reset', '--quiet', '--hard', commit], signal)
    await copyIncluded(repository.git, path, signal)
  }

  return {
    async show(commit, signal) {
      if (!existsSync(path)) await make(commit, signal)
      rmSync(join(gitDirOfWorktree(path), 'index.lock'), { force: true }) // of a git that was killed: nobody else works here
      await repository.onTree(async () => {
        await git.run(['update-ref', '--no-deref', 'HEAD', commit], signal)
        await git.run(['reset', '--quiet', '--hard'], signal)
        await git.run(['clean', '-ffdq'], signal)
      })
      return path
    },
    async remove() {
      if (!existsSync(path)) return
      await completeCheckout(path)
      await git.run(['clean', '-ffdq'])
      await repository.alone(() => removeWorktree(repository, path))
    },
  }
}
