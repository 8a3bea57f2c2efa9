import type { Host } from '../core/contract.ts'

/** A host whose every answer is raced with the run's signal: once it is aborted nothing more is asked for, and what is pending rejects with its reason. */
export function cancellable(host: Host, signal: AbortSignal): Host {
  const race = async <T>(work: () => Promise<T>): Promise<T> => {
    signal.throwIfAborted()
    const { promise: aborted, reject } = Promise.withResolvers<never>()
    const onAbort = () => reject(signal.reason)
    signal.addEventListener('abort', onAbort, { once: true })
    try {
      return await Promise.race([work(), aborted])
    } finally {
      signal.removeEventListener('abort', onAbort)
    }
  }
  return { next: (outcomes) => race(() => host.next(outcomes)), call: (calls) => race(() => host.call(calls)) }
}
