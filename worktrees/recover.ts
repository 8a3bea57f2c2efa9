import { existsSync, readdirSync, readFileSync, renameSync, rmSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { openGit } from './git.ts'
import { copyIndex, isIndexLocked, landingFiles, lockIndex, readLanding, unlockIndex, type Landing } from './landing.ts'
import { lockProcess } from './process-lock.ts'
import { commonDirOf, gitDirOf, mainCheckout } from './repository.ts'
import { undoFiles } from './undo-files.ts'

const GIT_ENDS = { lookMs: 50, atMostMs: 60_000 } as const

/** What became of a landing that was cut off. */
export type Recovered = Landing & { readonly checkout: string; readonly outcome: 'finished' | 'undone' }

/** The lock all merge queues of a repository share. */
export const queueLock = (commonDir: string): string => join(commonDir, 'cadre-queue.lock')

/**
 * Finishes or undoes what merge queues that were killed left half done in any checkout of a repository (WKT-10); answers what that was. To be
 * called at the start; waits while a living queue of any process is at work.
 */
export async function recover(checkout: string, signal?: AbortSignal): Promise<readonly Recovered[]> {
  const main = mainCheckout(checkout)
  const gitDir = main === null ? null : gitDirOf(main)
  if (main === null || gitDir === null) return []
  const unlock = await lockProcess(queueLock(commonDirOf(gitDir)), { signal })
  try {
    return await recoverAll(main, signal)
  } finally {
    unlock()
  }
}

/** As `recover`, for whoever holds the lock already. */
export async function recoverAll(main: string, signal?: AbortSignal): Promise<readonly Recovered[]> {
  const found: Recovered[] = []
  for (const top of checkoutsOf(main)) {
    const one = await recoverOne(top, signal)
    if (one) found.push(one)
  }
  return found
}

async function recoverOne(checkout: string, signal?: AbortSignal): Promise<Recovered | null> {
  const gitDir = gitDirOf(checkout)
  if (gitDir === null) return null
  const files = landingFiles(gitDir)
  for (const each of readdirSync(gitDir)) if (each.startsWith('cadre-undo-')) rmSync(join(gitDir, each), { recursive: true, force: true })
  const landing = readLanding(files.intent)
  if (landing === null) {
    unlockIndex(files) // of one that had not begun to change anything
    return null
  }
  await gitToEnd(files.index, signal)
  const git = openGit(checkout)
  // Somebody may have removed git's lock by hand, as git advises, and gone on: the index is theirs then, so it is asked for again.
  if (!isIndexLocked(files)) await lockIndex(files, landing, signal)
  const isPublished = !existsSync(files.index)
  const isIn = (await git.exec(['merge-base', '--is-ancestor', landing.to, landing.ref], signal)).code === 0
  if (isIn && !isPublished) {
    copyIndex(files)
    const env = { GIT_INDEX_FILE: files.index }
    await git.run(['read-tree', '-i', '-m', landing.from, landing.to], undefined, { env })
    await git.exec(['update-index', '-q', '--refresh'], undefined, { env })
    renameSync(files.index, files.gitIndex)
  } else if (!isIn) await undoFiles(git, landing)
  rmSync(files.intent)
  unlockIndex(files)
  return { ...landing, checkout, outcome: isIn ? 'finished' : 'undone' }
}

/**
 * Waits for the git a killed process may have left running in the checkout: it holds the lock of its index. A lock that is old is of one that was
 * killed as well.
 */
async function gitToEnd(index: string, signal?: AbortSignal): Promise<void> {
  const lock = `${index}.lock`
  for (let quiet = 0; quiet < 2; quiet += 1) {
    await sleep(GIT_ENDS.lookMs)
    signal?.throwIfAborted()
    const stats = statSync(lock, { throwIfNoEntry: false })
    if (stats && Date.now() - stats.mtimeMs < GIT_ENDS.atMostMs) quiet = 0
  }
}

/** The main checkout and all linked ones, from the files alone. */
function checkoutsOf(main: string): readonly string[] {
  const gitDir = gitDirOf(main)
  const linked = gitDir === null ? '' : join(commonDirOf(gitDir), 'worktrees')
  if (!existsSync(linked)) return [main]
  const tops = readdirSync(linked).flatMap((name) => {
    const file = join(linked, name, 'gitdir')
    return existsSync(file) ? [dirname(readFileSync(file, 'utf8').trim())] : []
  })
  return [main, ...tops.filter((top) => existsSync(top))]
}
