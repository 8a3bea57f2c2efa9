import { randomUUID } from 'node:crypto'
import { closeSync, existsSync, mkdirSync, openSync, readSync, readdirSync } from 'node:fs'
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
      try {
        await git.run(['worktree', 'move', '--force', '--force', path, to])
      } catch {
        return false // it has submodules, say: git moves none of those
      }
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
export function isPoolable(path: string): boolean {
  const gitDir = gitDirOfWorktree(path)
  if (existsSync(join(gitDir, 'config.worktree'))) return false // settings of its own would go to the next agent
  return entriesIn(join(gitDir, 'index')) >= POOL_LIMITS.leastFiles
}

/** How many files an index lists: the third number of its header. */
function entriesIn(index: string): number {
  const header = Buffer.alloc(12)
  const file = openSync(index, 'r')
  try {
    return readSync(file, header) === header.length ? header.readUInt32BE(8) : 0
  } finally {
    closeSync(file)
  }
}
