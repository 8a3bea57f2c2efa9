import { setImmediate as nextTurn } from 'node:timers/promises'
import { openGit } from './git.ts'
import { greenPrefix } from './green-prefix.ts'
import { landCheckout, landRef, type Landed } from './landing.ts'
import { changedBetween, overlapsWith, uncommitted } from './overlaps.ts'
import { refuseOwnPrograms } from './own-filters.ts'
import { lockProcess } from './process-lock.ts'
import { rebase, type Rebased } from './rebase.ts'
import { queueLock, recoverAll } from './recover.ts'
import { repositoryWorktrees } from './repository-worktrees.ts'
import { mainCheckout } from './repository.ts'
import { createScratchCheckout } from './scratch-checkout.ts'
import { targetCheckout } from './target-checkout.ts'
import { WorktreeError } from './worktree-error.ts'

/** A branch to land: its commits `base..branch`. `title` names it where they become one. */
export type LandRequest = { readonly branch: string; readonly base: string; readonly id: string; readonly title: string }

/** What became of it (WKT-10, WKT-11). In all but the first case the branch and its worktree are as they were. */
export type LandResult =
  /** `commit`: the target's after it; `tip`: the branch's own that was landed; `commits`: how many it became, 0 when all it does was there already. */
  | { readonly status: 'landed'; readonly commit: string; readonly tip: string; readonly commits: number }
  | { readonly status: 'conflict'; readonly branch: string; readonly base: string; readonly files: readonly string[] }
  | { readonly status: 'red'; readonly branch: string; readonly log: string }
  /** The user has uncommitted changes in these files, or holds the target in a rebase of theirs. */
  | { readonly status: 'overlap'; readonly files: readonly string[] }

export type MergeQueueOptions = {
  /** Any folder of the repository. */
  readonly checkout: string
  /** The branch that moves, as `main`. */
  readonly target: string
  /** Says whether the tree in this folder is good; null: nothing is verified. A rejection is everybody's in the batch. */
  readonly verify: ((root: string, signal: AbortSignal) => Promise<{ readonly ok: boolean; readonly log: string }>) | null
  /** Enters the write gate of the checkout that has the target; gives what leaves it. */
  gate(signal: AbortSignal): Promise<() => void>
  /** Told after each branch that landed, in order, while the gate is held. */
  onLanding?(id: string, result: LandResult & { readonly status: 'landed' }): void
  /** As for `openWorktrees`. */
  readonly trustPrograms?: boolean
}

/** Lands branches one after the other on one target, so that it is linear and every state of it was verified (WKT-09). */
export type MergeQueue = {
  /** Settles when it is known what becomes of the branch; rejects with the signal's reason (a landing that has begun is completed), or when git or `verify` fails. */
  land(request: LandRequest, signal?: AbortSignal): Promise<LandResult>
  /** Waits for what is under way and removes the scratch checkout. */
  close(): Promise<void>
}

/** Branches verified together. */
const BATCH = 8

type Item = { readonly request: LandRequest; readonly signal: AbortSignal; settle(result: LandResult): void; fail(error: unknown): void; settled: boolean }
type Placed = { readonly item: Item; readonly at: string; readonly tip: string; readonly commits: number }

/** Several queues, in several processes, may work on one repository: they take turns. Throws NO_CHECKOUT outside of a repository. */
export function createMergeQueue({ checkout, target, verify, gate, onLanding, trustPrograms = false }: MergeQueueOptions): MergeQueue {
  const main = mainCheckout(checkout)
  if (main === null) throw new WorktreeError('NO_CHECKOUT', `${checkout} lies in no checkout of git: there is nothing to land on.`)
  const repository = repositoryWorktrees(main)
  const { git } = repository
  const ref = `refs/heads/${target}`
  const scratch = createScratchCheckout(repository, ref)
  const waiting: Item[] = []
  let atWork: Promise<void> | null = null

  async function work(): Promise<void> {
    await nextTurn() // whoever is handed in together is verified together
    while (waiting.length > 0) {
      const batch = waiting.splice(0, BATCH).filter((item) => !item.settled)
      if (batch.length === 0) continue
      const { signal, dispose } = whenAllAborted(batch)
      try {
        const unlock = await lockProcess(queueLock(repository.commonDir), { signal })
        try {
          await recoverAll(git.root, signal)
          if (!trustPrograms) await refuseOwnPrograms(git, signal)
          await landBatch(batch, signal)
        } finally {
          unlock()
        }
      } catch (error) {
        for (const item of batch) item.fail(error)
      } finally {
        dispose()
      }
    }
  }

  async function landBatch(batch: readonly Item[], signal: AbortSignal): Promise<void> {
    for (;;) {
      const from = await tipOf(ref, signal)
      const row = await stack(batch.filter((item) => !item.settled), from, signal)
      if (row.length === 0) {
        if (batch.every((item) => item.settled)) return
        continue
      }
      const { green, log } = verify === null ? { green: row.length, log: null } : await greenPrefix(row.length, async (first) => verify(await scratch.show(row[first - 1]?.at ?? from, signal), signal))
      if (green > 0 && !(await landRow(row.slice(0, green), from, signal))) continue
      const bad = row[green]
      if (bad && log !== null) bad.item.settle({ status: 'red', branch: bad.item.request.branch, log })
    }
  }

  /** Puts the branches on top of each other, settling those that cannot be. One that only conflicts with another of them waits for the next round. */
  async function stack(items: readonly Item[], from: string, signal: AbortSignal): Promise<readonly Placed[]> {
    const row: Placed[] = []
    if (items.length === 0) return row
    const overlap = await overlaps(from, signal)
    let at = from
    for (const item of items) {
      const { branch, base } = item.request
      try {
        const placed = await rebase(git, item.request, at, signal)
        const alone: Rebased = placed.status === 'conflict' && at !== from ? await rebase(git, item.request, from, signal) : placed
        if (alone.status === 'conflict') item.settle({ status: 'conflict', branch, base, files: alone.files })
        if (placed.status === 'conflict') continue
        const files = placed.commit === at ? [] : await overlap(at, placed.commit)
        if (files.length > 0) {
          item.settle({ status: 'overlap', files })
          continue
        }
        row.push({ item, at: placed.commit, tip: placed.tip, commits: placed.commits })
        at = placed.commit
      } catch (error) {
        signal.throwIfAborted()
        item.fail(error) // its branch is gone, say: the others are not to suffer
      }
    }
    return row
  }

  /** What tells the user's uncommitted files that a step would touch, so that nothing is verified in vain. The checkout is looked at once, not for each branch. */
  async function overlaps(from: string, signal: AbortSignal): Promise<(at: string, to: string) => Promise<readonly string[]>> {
    const on = await targetCheckout(git, target, signal)
    if (on === null) return async () => []
    const there = openGit(on.path)
    const dirty = on.busy ? new Set<string>() : await uncommitted(there, from, signal)
    return async (at, to) => {
      const step = await changedBetween(git, at, to, signal)
      return on.busy ? step.map(({ path }) => path) : touching(overlapsWith(there, dirty, await changedBetween(git, from, to, signal)), step)
    }
  }

  /** Whether they landed, all together; if not, all is to be built and verified anew. */
  async function landRow(row: readonly Placed[], from: string, signal: AbortSignal): Promise<boolean> {
    const to = row.at(-1)?.at ?? from
    if (row.some(({ item }) => item.settled)) return false // stopped meanwhile
    const leave = await gate(signal)
    try {
      if (row.some(({ item }) => item.settled)) return false
      const landed = to === from ? ({ status: 'landed' } satisfies Landed) : await forward(from, to, signal)
      if (landed.status === 'overlap') await handBack(row, landed.files, from, signal)
      if (landed.status !== 'landed') return false
      for (const { item, at, tip, commits } of row) {
        const result = { status: 'landed', commit: at, tip, commits } as const
        item.settle(result)
        onLanding?.(item.request.id, result)
      }
      return true
    } finally {
      leave()
    }
  }

  /** The user was quicker: the branches that touch these files go back, the others are built anew without them. */
  async function handBack(row: readonly Placed[], files: readonly string[], from: string, signal: AbortSignal): Promise<void> {
    let before = from
    for (const { item, at } of row) {
      const own = touching(files, before === at ? [] : await changedBetween(git, before, at, signal))
      if (own.length > 0) item.settle({ status: 'overlap', files: own })
      before = at
    }
    if (!row.some(({ item }) => item.settled)) row.forEach(({ item }) => item.settle({ status: 'overlap', files }))
  }

  async function forward(from: string, to: string, signal: AbortSignal): Promise<Landed> {
    const on = await targetCheckout(git, target, signal)
    if (on === null) return landRef(git, { ref, from, to }, signal)
    return on.busy ? { status: 'moved' } : landCheckout(openGit(on.path), { ref, from, to }, signal)
  }

  async function tipOf(name: string, signal: AbortSignal): Promise<string> {
    try {
      return (await git.run(['rev-parse', '--verify', `${name}^{commit}`], signal)).trim()
    } catch (cause) {
      signal.throwIfAborted()
      throw new WorktreeError('NO_CHECKOUT', `There is no branch ${name.replace('refs/heads/', '')} in ${git.root}.`, { cause })
    }
  }

  return {
    land(request, signal = new AbortController().signal) {
      const { promise, resolve, reject } = Promise.withResolvers<LandResult>()
      const stop = (): void => item.fail(signal.reason)
      const once = (end: () => void): void => {
        if (item.settled) return
        item.settled = true
        signal.removeEventListener('abort', stop)
        end()
      }
      const item: Item = { request, signal, settled: false, settle: (result) => once(() => resolve(result)), fail: (error) => once(() => reject(error)) }
      if (signal.aborted) stop()
      else {
        signal.addEventListener('abort', stop)
        waiting.push(item)
        atWork ??= work().finally(() => (atWork = null))
      }
      return promise
    },
    async close() {
      for (let busy = atWork; busy; busy = atWork) await busy
      const unlock = await lockProcess(queueLock(repository.commonDir))
      try {
        await scratch.remove()
      } finally {
        unlock()
      }
    },
  }
}

/** Those of the files that a step changes, or that lie where it needs a folder, or below where it needs a file. */
function touching(files: readonly string[], step: readonly { readonly path: string }[]): readonly string[] {
  return files.filter((file) => step.some(({ path }) => path === file || path.startsWith(`${file}/`) || file.startsWith(`${path}/`)))
}

/** Fires when nobody waits for the batch any more. */
function whenAllAborted(items: readonly Item[]): { readonly signal: AbortSignal; dispose(): void } {
  const all = new AbortController()
  const look = (): void => {
    if (items.every(({ signal }) => signal.aborted)) all.abort(items[0]?.signal.reason)
  }
  for (const { signal } of items) signal.addEventListener('abort', look)
  look()
  return { signal: all.signal, dispose: () => items.forEach(({ signal }) => signal.removeEventListener('abort', look)) }
}
