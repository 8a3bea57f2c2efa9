import type { Git } from './git.ts'
import { hasOwnFilters } from './own-filters.ts'
import { branchOf } from './repository.ts'

/** How a checkout stands. `branch`: null when HEAD is on none. */
export type WorkingState = {
  readonly branch: string | null
  /** Null: nobody knows. `lines` are all of git's short status, `XY <path>`, in git's order. */
  readonly status: null | { readonly changed: number; readonly untracked: number; readonly lines: readonly string[] }
}

/** An agent waits for this at its start: 50,000 files take 0.4 s on a slow disk. */
const WAIT_MS = 2_000

const COMMAND = ['status', '--porcelain=v1', '--untracked-files=normal', '--ignore-submodules=dirty', '--no-renames', '--', '.']

/**
 * The branch and the short status of the folder git is open in, and below. Never rejects but when aborted. The status is left out when it takes
 * over 2 s, and where the repository's own configuration has filters: see own-filters.ts.
 */
export async function workingState(git: Git, signal?: AbortSignal): Promise<WorkingState> {
  const branch = branchOf(git.root)
  const limit = AbortSignal.any([AbortSignal.timeout(WAIT_MS), ...(signal ? [signal] : [])])
  try {
    if (await hasOwnFilters(git, limit)) return { branch, status: null }
    const lines = (await git.run(COMMAND, limit)).split('\n').filter((line) => line !== '')
    const untracked = lines.filter((line) => line.startsWith('??')).length
    return { branch, status: { changed: lines.length - untracked, untracked, lines } }
  } catch {
    signal?.throwIfAborted()
    return { branch, status: null } // no git, no repository, or no answer in time
  }
}
