import { expose } from 'comlink'
import type { MessagePort } from 'node:worker_threads'

import type { Host, Reply, ToolOutcome } from '../core/contract.ts'
import type { Ending } from './ending.ts'
import { wasStopped } from './ending.ts'
import { guarded } from './guard.ts'
import type { Hand } from './hand.ts'
import { idsFrom, outcomesFrom } from './plain.ts'
import type { Seat } from './pool.ts'

/** A thread's line to its host; `close` it when the stay has ended. */
export type Wire = {
  /** Whether the thread was told to leave for another agent. */
  left(): boolean
  /** Whether the thread has nothing to do but to wait for a reply. */
  waits(): boolean
  close(): void
}

/** One agent's run, whatever thread it is in. */
export type Run = { readonly hand: Hand; readonly ending: Ending }

/**
 * Puts `host` behind the guard on `port`. A rejection of the host stops the job with that very error; the thread is told only that it was
 * stopped. While the thread waits for a reply its `seat` may be given away. `refuse` is called once, with what the thread asked for that is not
 * on its list.
 */
export function openWire(port: MessagePort, host: Host, { hand, ending }: Run, seat: Seat, refuse: (what: string) => void): Wire {
  let left = false
  let waits = false
  const ask = async <Value>(work: () => Promise<Value>): Promise<Value> => {
    if (ending.stopped() === null) {
      try {
        return await ending.race(work())
      } catch (error) {
        ending.stop(error)
      }
    }
    throw wasStopped()
  }
  /** Waits for a reply, or for null when the thread was given away. */
  async function nextHere(coming: Promise<Reply>): Promise<Reply | null> {
    const { promise: lent, resolve: lend } = Promise.withResolvers<null>()
    waits = true
    const back = seat.waits(() => {
      left = true
      lend(null)
    })
    try {
      const reply = await Promise.race([coming, lent])
      return reply === null || left ? null : forThread(reply)
    } finally {
      waits = false
      back()
    }
  }
  const near: { readonly next: (outcomes: readonly ToolOutcome[]) => Promise<Reply | null>; readonly call: Host['call'] } = {
    next: (outcomes) => ask(() => nextHere(host.next(outcomes))),
    call: (calls) => ask(async () => {
      const back = seat.waits(null)
      const outcomes = await host.call(calls).finally(back)
      hand.note(outcomes)
      return outcomes
    }),
  }
  const wire = guarded(port, {
    next: ([own, ...rest]) => (left ? null : only(rest, own, (value) => both(outcomesFrom(value), hand.settle))),
    call: ([ids, ...rest]) => (left ? null : only(rest, ids, (value) => both(idsFrom(value), hand.pick))),
  }, refuse)
  expose(near, wire)
  return { left: () => left, waits: () => waits, close: wire.close }
}

/** What the loop in a thread needs of a reply: not the provider's own content, and no input of a call it will not run. */
export const forThread = ({ text, calls, usage, model }: Reply): Reply =>
  ({ text, calls: calls.map((call) => (call.local ? call : { ...call, input: null })), usage, model })

function only<Value>(rest: readonly unknown[], argument: unknown, read: (value: unknown) => Value | null): readonly [Value] | null {
  const value = rest.length > 0 ? null : read(argument)
  return value === null ? null : [value]
}

const both = <A, B>(value: A | null, step: (value: A) => B | null): B | null => (value === null ? null : step(value))
