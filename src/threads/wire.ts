import { expose } from 'comlink'
import type { MessagePort } from 'node:worker_threads'

import type { Host, Reply } from '../core/contract.ts'
import type { Ending } from './ending.ts'
import { guarded } from './guard.ts'
import type { Hand } from './hand.ts'
import { idsFrom, outcomesFrom } from './plain.ts'

/** A thread's line to its host; `close` it when the job has ended. */
export type Wire = { close(): void }

/**
 * Puts `host` behind the guard on `port`. A rejection of the host stops the job with that very error; the thread is told only that it was
 * stopped. `refuse` is called once, with what the thread asked for that is not on its list.
 */
export function openWire(port: MessagePort, host: Host, hand: Hand, ending: Ending, refuse: (what: string) => void): Wire {
  const ask = async <Value>(work: () => Promise<Value>): Promise<Value> => {
    if (ending.stopped() === null) {
      try {
        return await ending.race(work())
      } catch (error) {
        ending.stop(error)
      }
    }
    throw new Error('the run was stopped')
  }
  const near: Host = {
    next: (outcomes) => ask(async () => {
      const reply = await host.next(outcomes)
      hand.deal(reply)
      return forThread(reply)
    }),
    call: (calls) => ask(async () => {
      const outcomes = await host.call(calls)
      hand.note(outcomes)
      return outcomes
    }),
  }
  const wire = guarded(port, {
    next: ([own, ...rest]) => only(rest, own, (value) => both(outcomesFrom(value), hand.settle)),
    call: ([ids, ...rest]) => only(rest, ids, (value) => both(idsFrom(value), hand.pick)),
  }, refuse)
  expose(near, wire)
  return wire
}

/** What the loop in a thread needs of a reply: not the provider's own content, and no input of a call it will not run. */
const forThread = ({ text, calls, usage, model }: Reply): Reply =>
  ({ text, calls: calls.map((call) => (call.local ? call : { ...call, input: null })), usage, model })

function only<Value>(rest: readonly unknown[], argument: unknown, read: (value: unknown) => Value | null): readonly [Value] | null {
  const value = rest.length > 0 ? null : read(argument)
  return value === null ? null : [value]
}

const both = <A, B>(value: A | null, step: (value: A) => B | null): B | null => (value === null ? null : step(value))
