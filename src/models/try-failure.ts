import type { Usage } from '../core/contract.ts'

/**
 * Why one try went wrong. `refused`: the provider will answer the same again; every other kind may go better next time.
 * `rate`: 429. `server`: 408 and 5xx, 529 included. `network`: no answer. `stream`: an answer that broke off or made no sense. `stopped`:
 * the caller's signal ended it. `oversize`: an answer that was cut off because no reply is that large.
 * `redirect`: the provider is somewhere else, it says.
 */
export type FailureKind = 'rate' | 'server' | 'network' | 'stream' | 'silence' | 'empty' | 'refused' | 'stopped' | 'oversize' | 'redirect'

/** What a try may know of itself. */
export type FailureFacts = {
  readonly kind: FailureKind
  readonly status?: number | null
  readonly retryAfterMs?: number | null
  readonly usage: Usage
}

/** What became of one try at a model call. `message` is the provider's own text or ours, free of secrets. */
export class TryFailure extends Error {
  readonly kind: FailureKind
  /** The HTTP status, or null when there was none. */
  readonly status: number | null
  /** How long the provider asked to wait, in ms. */
  readonly retryAfterMs: number | null
  /** What the try used up, as far as the provider said (BUD-06). */
  readonly usage: Usage

  constructor(message: string, facts: FailureFacts) {
    super(message)
    this.name = 'TryFailure'
    this.kind = facts.kind
    this.status = facts.status ?? null
    this.retryAfterMs = facts.retryAfterMs ?? null
    this.usage = facts.usage
  }
}
