import { randomUUID } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync } from 'node:fs'
import { dirname, join, sep } from 'node:path'
import { openGit } from './git.ts'
import { lockReason, registered } from './registry.ts'
import type { RepositoryWorktrees } from './repository-worktrees.ts'
import { dropRecord, gitDirOfWorktree } from './worktree.ts'

/** A tree with fewer files is opened anew about as fast as a kept one is checked. `most` bounds what it costs on disk. */
export const POOL_LIMITS = { leastFiles: 2_000, most: 20 } as const

/**
 * Clean worktrees that wait for their next agent, detached, below `.cadre/worktrees/.pool`: on a large tree checking one takes a tenth of writing
 * it. Every process of the repository may take from it; both functions are to be called inside of `alone`.
 */
export type WorktreePool = {
  /** Moves a worktree with this path in, if there is room; its lock is taken off. Answers whether it is in. */
  put(path: string): Promise<boolean>
  /** Moves a worktree out to this path, locked for the owner; answers whether there was one. Its HEAD is wherever it was, its files are unchecked. */
  take(to: string, owner: string): Promise<boolean>
}

export function createWorktreePool({ git, folder }: RepositoryWorktrees): WorktreePool {
  const place = join(folder, '.pool')
  const isInside = (path: string): boolean => path.startsWith(place + sep)
  return {
    async put(path) {
      if ((await registered(git)).filter((each) => isInside(each.path)).length >= POOL_LIMITS.most) return false
      const to = join(place, randomUUID().slice(0, 8))
      mkdirSync(dirname(to), { recursive: true })
      dropRecord(path)
      // Forced twice: it stays locked until it has arrived, so a kill in between leaves nothing that looks free.
      await git.run(['worktree', 'move', '--force', '--force', path, to])
      await git.run(['worktree', 'unlock', to])
      return true
    },
    async take(to, owner) {
      if (!existsSync(place) || readdirSync(place).length === 0) return false
      for (const each of await registered(git)) {
        if (!isInside(each.path) || each.lock !== null) continue
        try {
          await git.run(['worktree', 'lock', '--reason', lockReason(owner), each.path])
          await openGit(each.path).run(['rev-parse', '--verify', 'HEAD'])
          await git.run(['worktree', 'move', '--force', '--force', each.path, to])
          return true
        } catch {
          continue // somebody removed or broke this one: it stays locked, and is looked at when the owner is dead
        }
      }
      return false
    },
  }
}

/** Whether a worktree is worth keeping for the next agent. */
export async function isPoolable(path: string, signal?: AbortSignal): Promise<boolean> {
  if (existsSync(join(gitDirOfWorktree(path), 'config.worktree'))) return false // settings of its own would go to the next agent
  const entries = (await openGit(path).run(['ls-files', '--stage', '-z'], signal)).split('\0')
  // git moves no worktree that has submodules.
  return entries.length > POOL_LIMITS.leastFiles && !entries.some((entry) => entry.startsWith('160000 '))
}
