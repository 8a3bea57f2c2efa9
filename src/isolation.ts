import type { EventBody } from './core/events.ts'
import type { AgentResult } from './core/result.ts'
import type { Gate } from './schedule/gate.ts'
import { commitAll } from '../worktrees/commit-all.ts'
import type { Ended } from '../worktrees/end-worktree.ts'
import { branchOf, mainCheckout } from '../worktrees/git.ts'
import { createMergeQueue } from '../worktrees/merge-queue.ts'
import type { LandResult, MergeQueue } from '../worktrees/merge-queue.ts'
import { processExists, startOf } from '../worktrees/process-identity.ts'
import { recover } from '../worktrees/recover.ts'
import type { Worktree } from '../worktrees/worktree.ts'
import { openWorktrees } from '../worktrees/worktrees.ts'
import type { NoWorktree } from '../worktrees/worktrees.ts'

/** What became of an agent's worktree and of the changes in it. `notes`: lines for its result. */
export type BroughtBack = Pick<AgentResult, 'worktree' | 'merge'> & { readonly notes: readonly string[]; readonly events: readonly EventBody[] }

/** Whose worktree it is, and whether its changes may land. `ancestors`: the agents above it, which may be waiting for it at the gate. */
export type Owner = { readonly agent: string; readonly title: string; readonly ancestors: readonly string[]; readonly success: boolean; readonly signal: AbortSignal }

/** Worktrees of agents, and the way back from there (WKT). */
export type Isolation = {
  /** A worktree at the HEAD of `from`, a folder; or why there is none. */
  open(wanted: { readonly name: string; readonly from: string; readonly signal: AbortSignal }): Promise<Worktree | NoWorktree>
  /** That of an agent that goes on. */
  reopen(path: string, signal?: AbortSignal): Promise<Worktree | NoWorktree>
  /** Ends an agent's worktree: removed without changes, merged if the settings say so and it succeeded, else kept. Never rejects. */
  bringBack(worktree: Worktree, owner: Owner): Promise<BroughtBack>
  close(): Promise<void>
}

export type IsolationOptions = {
  readonly root: string
  readonly trusted: boolean
  settings(): { readonly merge: 'keep' | 'queue'; readonly carryDirty: boolean }
  /** Judges a tree; null: nothing does. */
  verify(): ((root: string, signal: AbortSignal) => Promise<{ readonly ok: boolean; readonly log: string }>) | null
  readonly gate: Gate
  /** Whether some session here was interrupted and can be resumed. */
  mayGoOn(): boolean
  onWarning(text: string): void
}

/** Characters of a failed verification's log that its agent's parent reads. */
const LOG_CHARACTERS = 4_000

export function openIsolation({ root, trusted, settings, verify, gate, mayGoOn, onWarning }: IsolationOptions): Isolation {
  const worktrees = openWorktrees({ checkout: root, owner: ownerOf(process.pid), isAlive: isOwnerAlive, trustPrograms: trusted, onWarning })
  /** Finishes or undoes what an earlier process was killed in, and frees what it left (WKT-08): once, when a worktree is first needed. */
  let cleared: Promise<void> | null = null
  const queues = new Map<string, MergeQueue>()
  /** Agents above those whose branches are in a queue: one that holds the gate is waiting for them. */
  const waiting = new Map<string, readonly string[]>()

  function queueFor(target: string): MergeQueue {
    const known = queues.get(target)
    if (known) return known
    const queue = createMergeQueue({
      checkout: root,
      target,
      verify: async (tree, signal) => (await verify()?.(tree, signal)) ?? { ok: true, log: '' },
      async gate(signal) {
        const ancestors = [...waiting.values()].flat()
        return (await gate.enter({ agent: 'merge-queue', title: 'merge queue', ancestors }, signal)).leave
      },
      trustPrograms: trusted,
    })
    queues.set(target, queue)
    return queue
  }

  async function land(worktree: Worktree, { agent, title, ancestors, signal }: Owner): Promise<LandResult | { readonly status: 'kept'; readonly why: string }> {
    const target = branchOf(root)
    if (target === null) return { status: 'kept', why: 'the main checkout is on no branch, so nothing was merged' }
    waiting.set(agent, ancestors)
    try {
      return await queueFor(target).land({ branch: worktree.branch, base: worktree.base, id: agent, title }, signal)
    } finally {
      waiting.delete(agent)
    }
  }

  async function merged(worktree: Worktree, owner: Owner): Promise<BroughtBack> {
    await commitAll(worktree, { message: owner.title, trustPrograms: trusted, signal: owner.signal })
    const before = await worktrees.end(worktree, { signal: owner.signal })
    if (!before.kept) return ended(before, worktree, { merge: { status: 'unchanged' }, notes: [] })
    if ((before.ahead ?? 0) === 0) return ended(before, worktree, { merge: null, notes: [] })
    const result = await land(worktree, owner)
    switch (result.status) {
      case 'landed': {
        const after = await worktrees.end(worktree, { landed: result.tip, signal: owner.signal })
        const { commit } = result
        return ended(after, worktree, { merge: { status: 'landed', commit }, notes: [`Landed as ${commit.slice(0, 12)}`], events: [{ type: 'merge.landed', data: { branch: worktree.branch, commit } }] })
      }
      case 'conflict': {
        const { branch, base, files } = result
        return ended(before, worktree, {
          merge: { status: 'conflict', branch, base, files }, notes: [`Merge conflict in ${files.join(', ')}: its branch ${branch} was not merged`], events: [{ type: 'merge.conflict', data: { branch, base, files } }],
        })
      }
      case 'red': {
        const { branch, log } = result
        const end = log.length > LOG_CHARACTERS ? `…${log.slice(-LOG_CHARACTERS)}` : log
        return ended(before, worktree, { merge: { status: 'red', branch, log: end }, notes: [`The verify command failed with it: its branch ${branch} was not merged`, ...end.trimEnd().split('\n')], events: [{ type: 'merge.red', data: { branch, log: end } }] })
      }
      case 'overlap': {
        const { files } = result
        return ended(before, worktree, { merge: { status: 'overlap', branch: worktree.branch, files }, notes: [`Uncommitted changes of the user are in ${files.join(', ')}: its branch ${worktree.branch} was not merged`] })
      }
      case 'kept':
        return ended(before, worktree, { merge: null, notes: [result.why] })
    }
  }

  async function clear(): Promise<void> {
    if (mainCheckout(root) === null) return
    for (const { ref, outcome } of await recover(root)) onWarning(`an interrupted landing on ${ref} was ${outcome}`)
    // Agents of an interrupted session may go on in theirs.
    if (mayGoOn()) return
    for (const left of await worktrees.sweep()) if (left.kept && left.failure) onWarning(`the worktree ${left.path} stays: ${left.failure}`)
  }

  async function bringBack(worktree: Worktree, owner: Owner): Promise<BroughtBack> {
    try {
      if (settings().merge === 'queue' && owner.success) return await merged(worktree, owner)
      return ended(await worktrees.end(worktree), worktree, { merge: null, notes: [] })
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error)
      return ended({ kept: true, path: worktree.path, branch: worktree.branch, base: worktree.base, failure: why }, worktree, { merge: null, notes: [] })
    }
  }

  return {
    async open({ name, from, signal }) {
      await (cleared ??= clear())
      return worktrees.open({ name, from, carryDirty: settings().carryDirty, signal })
    },
    reopen: (path, signal) => worktrees.reopen(path, signal),
    bringBack,
    async close() {
      await Promise.all([...queues.values()].map((queue) => queue.close()))
    },
  }
}

/** WKT-02, 03: what is told of a worktree that stays. */
function ended(end: Ended, worktree: Worktree, { merge, notes, events = [] }: { readonly merge: AgentResult['merge']; readonly notes: readonly string[]; readonly events?: readonly EventBody[] }): BroughtBack {
  const { path, branch, base } = worktree
  if (!end.kept) return { worktree: null, merge, notes, events: [...events, { type: 'worktree.removed', data: { path, branch } }] }
  const behind = end.behind ?? 0
  return {
    worktree: { path, branch, baseSha: base, behind },
    merge,
    notes: [
      `Worktree ${path}, branch ${branch}, base ${base}, behind by ${behind}`,
      ...(worktree.parentDirty > 0 && worktree.carried === null ? [`${worktree.parentDirty} uncommitted files of the parent are not in it`] : []),
      ...notes,
      ...(end.failure ? [`It stays: ${end.failure}`] : []),
    ],
    events: [...events, { type: 'worktree.kept', data: { path, branch, base, behind } }],
  }
}

/** One line that names a process for as long as it lives, and no other after it. */
const ownerOf = (pid: number): string => `cadre process ${pid} ${startOf(pid)}`

function isOwnerAlive(owner: string): boolean {
  const pid = Number(/^cadre process (\d+)/.exec(owner)?.[1] ?? 0)
  if (pid === 0) return true // not one of ours: never taken for dead
  return processExists(pid) && ownerOf(pid) === owner
}
