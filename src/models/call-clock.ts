import { NO_USAGE } from '../core/contract.ts'
import { TryFailure } from './try-failure.ts'

type ClockedCall<T> = (signal: AbortSignal, heard: () => void) => Promise<T>

/** One for all calls: its stack says nothing, and costs. */
const CALL_ENDED = new Error('The call has ended.')

/**
 * Runs one call under a signal of its own, which aborts with `outer`, after `silenceMs` without a `heard()` (MOD-05), and when the call
 * failed, so that a line that was not read to its end is freed. Settles at once when the signal aborts, whatever the call itself does then.
 * Rejects with the signal's reason, a TryFailure of kind `silence`, or what the call rejected with.
 */
export async function underClock<T>(outer: AbortSignal, silenceMs: number, call: ClockedCall<T>): Promise<T> {
  outer.throwIfAborted()
  const own = new AbortController()
  const stopped = new Promise<never>((_, reject) => {
    own.signal.addEventListener('abort', () => reject(own.signal.reason as Error), { once: true })
  })
  const forward = (): void => own.abort(outer.reason)
  const silence = setTimeout(() => {
    own.abort(new TryFailure(`no word for ${silenceMs / 1_000} s`, { kind: 'silence', usage: NO_USAGE }))
  }, silenceMs)
  outer.addEventListener('abort', forward, { once: true })
  try {
    return await Promise.race([stopped, call(own.signal, () => void silence.refresh())])
  } catch (error) {
    // The race is over, so nobody hears of this rejection.
    own.abort(CALL_ENDED)
    throw error
  } finally {
    clearTimeout(silence)
    outer.removeEventListener('abort', forward)
  }
}
