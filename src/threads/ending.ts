import type { StopFlag } from '../core/thread.ts'

/** From the request to stop until the thread is ended, in ms (SHL-08). */
const STOP_GRACE_MS = 2_000

/** How one job comes to its end before it is done. The first reason wins. */
export type Ending = {
  /** What the thread's tools look at. */
  readonly flag: StopFlag
  /** Aborts when the thread is to be ended now. */
  readonly kill: AbortSignal
  /** Why the job was stopped; null while nobody did. */
  stopped(): { readonly reason: unknown } | null
  /** From now on the job has a thread, and with it time to stop by itself. */
  begin(): void
  /** From now on the job has no thread: a stop ends it at once. */
  rest(): void
  /** Asks the thread to stop; ends it when it has not within the grace time. */
  stop(reason: unknown): void
  /** Ends the thread at once. */
  end(reason: unknown): void
  /** `work`, or a rejection as soon as the job is stopped; at once when it was before. */
  race<Value>(work: Promise<Value>): Promise<Value>
  /** Lets go of the signal and the clock. */
  release(): void
}

/** What a thread is told; why is the main side's business. */
export const wasStopped = (): Error => new Error('the run was stopped')

/** The ending of a job that `signal` stops. */
export function endingOf(signal: AbortSignal): Ending {
  const flag = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT))
  const kill = new AbortController()
  const pending = new Set<(error: Error) => void>()
  let cause: { readonly reason: unknown } | null = null
  let begun = false
  let clock: NodeJS.Timeout | undefined

  const stop = (reason: unknown, graceMs: number) => {
    if (cause === null) {
      cause = { reason }
      Atomics.store(flag, 0, 1)
      for (const reject of pending) reject(wasStopped())
    }
    if (graceMs === 0 || !begun) kill.abort()
    else clock ??= setTimeout(() => kill.abort(), graceMs)
  }
  const onAbort = () => stop(signal.reason, STOP_GRACE_MS)
  signal.addEventListener('abort', onAbort, { once: true })

  return {
    flag,
    kill: kill.signal,
    stopped: () => cause,
    begin() {
      begun = true
    },
    rest() {
      begun = false
      clearTimeout(clock)
      if (cause !== null) kill.abort()
    },
    stop: (reason) => stop(reason, STOP_GRACE_MS),
    end: (reason) => stop(reason, 0),
    async race(work) {
      const { promise, reject } = Promise.withResolvers<never>()
      if (cause !== null) reject(wasStopped())
      pending.add(reject)
      try {
        return await Promise.race([work, promise])
      } finally {
        pending.delete(reject)
      }
    },
    release() {
      clearTimeout(clock)
      signal.removeEventListener('abort', onAbort)
    },
  }
}
