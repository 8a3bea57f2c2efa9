import type { Host } from '../core/contract.ts'
import { orAborted } from '../core/or-aborted.ts'

/** A host whose every answer is raced with the run's signal: once it is aborted nothing more is asked for, and what is pending rejects with its reason. */
export const cancellable = (host: Host, signal: AbortSignal): Host => ({
  next: (outcomes) => orAborted(signal, () => host.next(outcomes)),
  call: (calls) => orAborted(signal, () => host.call(calls)),
})
