import { MessageChannel } from 'node:worker_threads'
import type { MessagePort } from 'node:worker_threads'

import type { Brief, Host, Job, Reply, Report, ToolCall, ToolOutcome } from '../core/contract.ts'
import { CadreError } from '../core/errors.ts'
import type { CallsTask, RunTask } from '../core/thread.ts'
import { threadCap } from './cap.ts'
import { crashed, fateOf } from './crash.ts'
import type { Ending } from './ending.ts'
import { endingOf } from './ending.ts'
import { emptyHand } from './hand.ts'
import { outcomesFrom, runAnswerFrom } from './plain.ts'
import { createPool } from './pool.ts'
import { repliesOf } from './replies.ts'
import type { Run, Wire } from './wire.ts'
import { forThread, openWire } from './wire.ts'

/** Where agents run. Brief, replies and outcomes are plain data with ids, so a runner may as well be on another machine. */
export type Runner = {
  /**
   * Runs `runLoop` for one agent in pooled warm threads and resolves with the loop's report. A thread is the agent's own while its loop runs
   * there; while it waits for a reply it has none, or lends it to an agent that needs one. Rejects with the very error the host rejected with; with `CRASHED`, naming agent, turn and calls in hand, when the thread threw, ran out of heap or exited (KIN-13); with `GUARD`,
   * naming what was refused (SHL-07); or with the signal's reason. Settles within about 2 s of an abort: the thread is first asked to stop, then
   * ended (SHL-08).
   */
  run(job: Job): Promise<Report>
  /**
   * Runs read calls in a thread for an agent whose loop is on the main thread. Outcomes keep the order of the calls (TOO-12). Never rejects for a
   * tool's own failure; else as `run`.
   */
  calls(job: { readonly brief: Brief; readonly calls: readonly ToolCall[]; readonly signal: AbortSignal }): Promise<readonly ToolOutcome[]>
  /** Starts threads ahead of need; returns at once. */
  warm(count: number): void
  /** Threads that may live at once; more runs than that wait in line. */
  readonly cap: number
  stats(): { readonly threads: number; readonly busy: number }
  /** Ends every thread; what still runs or waits rejects with `STOPPED`. */
  close(): Promise<void>
}

/** How much one thread's heap may hold, in MB: a limit, not a size. 256 whole reads in one turn of a program (64 MB) must fit. */
const HEAP_MB = 128

const BUILT = import.meta.url.endsWith('.js') ? 'js' : 'ts'

/** `max` can only lower the cap; `entry` is the file each thread starts with. */
export function createThreads({ max = Infinity, entry = new URL(`../../sandbox/worker.${BUILT}`, import.meta.url), heapMb = HEAP_MB }: {
  readonly max?: number
  readonly entry?: URL
  readonly heapMb?: number
} = {}): Runner {
  const cap = Math.max(1, Math.min(max, threadCap()))
  const pool = createPool({ entry, max: cap, heapMb })
  const active = new Set<Ending>()
  let closed = false

  /** Runs `work` with an ending of its own; every way to fail comes out as the one error `Runner` promises. */
  async function ended<Value>(signal: AbortSignal, who: () => string, work: (ending: Ending) => Promise<Value>): Promise<Value> {
    if (closed) throw threadsClosed()
    signal.throwIfAborted()
    const ending = endingOf(signal)
    active.add(ending)
    try {
      const value = await work(ending)
      const stop = ending.stopped()
      if (stop) throw stop.reason
      return value
    } catch (error) {
      const stop = ending.stopped()
      if (stop) throw stop.reason
      throw error instanceof CadreError ? error : crashed(who(), fateOf(error, heapMb), error)
    } finally {
      active.delete(ending)
      ending.release()
    }
  }

  /** One stay in a thread, from `reply` on: the agent's report, or what it left with; null when its next reply is asked for already. */
  async function stay(brief: Brief, host: Host, { hand, ending }: Run, reply: Reply): Promise<StayEnd | null> {
    let wire: Wire | undefined
    let alone = false
    try {
      const answer = runAnswerFrom(await pool.run({
        name: 'run',
        kill: ending.kill,
        prepare(seat) {
          ending.begin()
          hand.enter()
          alone = seat.crowded && reply.calls.every(({ local }) => local)
          const task: RunTask<MessagePort> = { brief, reply: forThread(reply), port: null, stop: ending.flag }
          if (alone) return { task, transfer: [] }
          const { port1, port2 } = new MessageChannel()
          wire = openWire(port1, host, { hand, ending }, seat, (what) => ending.end(refused(hand.describe(), what)))
          return { task: { ...task, port: port2 }, transfer: [port2] }
        },
      }))
      if (answer?.ok === false) throw crashed(hand.describe(), `its loop threw: ${answer.error}`)
      const outcomes = alone && answer?.outcomes ? hand.settle(answer.outcomes) : null
      if (outcomes) return { outcomes }
      if (answer?.report === null && !answer.outcomes && wire?.left()) return null
      const report = answer?.report ? hand.ends(answer.report) : null
      if (report === null) throw refused(hand.describe(), 'an answer that is no report')
      return { report }
    } catch (error) {
      // Nothing of this agent was under way in it: whatever ended the thread, the reply on its way is not lost for it.
      if ((wire?.waits() || wire?.left()) && ending.stopped() === null) return null
      throw error
    } finally {
      ending.rest()
      wire?.close()
    }
  }

  return {
    run({ brief, host, signal }) {
      const hand = emptyHand(brief)
      return ended(signal, hand.describe, async (ending) => {
        const replies = repliesOf(host, hand, ending)
        const near: Host = { next: replies.next, call: (calls) => host.call(calls) }
        for (;;) {
          const end = await stay(brief, near, { hand, ending }, await replies.last())
          if (end?.report) return end.report
          if (end?.outcomes) void replies.next(end.outcomes)
        }
      })
    },
    async calls({ brief, calls, signal }) {
      if (calls.length === 0) return []
      const who = () => `agent ${brief.agent} (${brief.type}), calls in hand: ${calls.map(({ id, name }) => `${name} (${id})`).join(', ')}`
      return ended(signal, who, async (ending) => {
        const outcomes = outcomesFrom(await pool.run({
          name: 'calls',
          urgent: true,
          kill: ending.kill,
          prepare() {
            ending.begin()
            return { task: { brief, calls, stop: ending.flag } satisfies CallsTask, transfer: [] }
          },
        }))
        if (outcomes?.length !== calls.length || !outcomes.every(({ callId }, i) => callId === calls[i]?.id)) {
          throw refused(who(), 'an answer that is no list of outcomes')
        }
        return outcomes
      })
    },
    warm: pool.warm,
    cap,
    stats: pool.stats,
    async close() {
      closed = true
      for (const ending of active) ending.end(threadsClosed())
      await pool.close()
    },
  }
}

/** How a stay ended: with the report, or without a port before the next reply was asked for. */
type StayEnd = { readonly report: Report; readonly outcomes?: never } | { readonly report?: never; readonly outcomes: readonly ToolOutcome[] }

const threadsClosed = () => new CadreError('STOPPED', 'The threads are closed; create an orchestrator anew to run agents.')

const refused = (who: string, what: string) =>
  new CadreError('GUARD', `The thread of ${who}: it asked for what no thread may (${what}) and was ended. Nothing of it was done.`)
