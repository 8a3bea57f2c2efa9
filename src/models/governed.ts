import { addUsage, type Delta, type Model, NO_USAGE, type Reply, totalTokens, type Usage } from '../core/contract.ts'
import { CadreError } from '../core/errors.ts'
import { type FailureKind, TryFailure } from './try-failure.ts'

/** A wait before the next try: `attempt` is the try that failed, 1 for the first. */
export type Pause = {
  readonly provider: string
  readonly attempt: number
  readonly waitMs: number
  readonly reason: string
  readonly agent: string
}

/** Usage no reply carries, because the call failed for good or was stopped (BUD-06). */
export type LostUsage = { readonly agent: string; readonly model: string; readonly usage: Usage }

export type Governing = {
  readonly provider: string
  readonly maxTries: number
  /** Resolves after `ms`, or rejects at once with the signal's reason. */
  sleep(ms: number, signal: AbortSignal): Promise<void>
  onPause(pause: Pause): void
  onLostUsage(lost: LostUsage): void
  /** What a person can do about a failure that will not go away by itself. */
  remedy(failure: TryFailure): string
}

const BACKOFF = { firstMs: 1_000, longestMs: 60_000, jitter: 0.2 } as const

/** What another try would only pay for again. */
const HOPELESS: ReadonlySet<FailureKind> = new Set(['refused', 'oversize', 'redirect'])

/** A reply with nothing in it is asked for again this often (MOD-05). */
const EMPTY_RETRIES = 1

/**
 * The only place that repeats a model call (BUD-09): at most `maxTries` tries in all, waiting as long as the provider asks, else 1 s
 * doubling to 60 s. What a failed try had shown is taken back with a `reset`, and what it used is added to the reply's usage. Rejects with
 * RATE_LIMIT, MODEL, or the signal's reason. The pacing over all agents of a key (BUD-07, BUD-08) will wrap `model.generate` here.
 */
export function governed(model: Model, governing: Governing): Model {
  return {
    ...model,
    async generate(request, { signal, onDelta }): Promise<Reply> {
      let spent = NO_USAGE
      let empty = 0
      try {
        for (let attempt = 1; ; attempt += 1) {
          signal.throwIfAborted()
          let shown = false
          const show = (delta: Delta): void => {
            shown = true
            onDelta(delta)
          }
          let failure: TryFailure
          try {
            const reply = await model.generate(request, { signal, onDelta: show })
            const whole = { ...reply, usage: addUsage(reply.usage, spent) }
            spent = NO_USAGE
            return whole
          } catch (error) {
            if (!(error instanceof TryFailure)) throw error
            failure = error
          }
          spent = addUsage(spent, failure.usage)
          signal.throwIfAborted()
          if (shown) onDelta({ kind: 'reset' })
          if (failure.kind === 'empty') empty += 1
          const hopeless = HOPELESS.has(failure.kind) || empty > EMPTY_RETRIES || attempt >= governing.maxTries
          if (hopeless) throw finalError(model.id, failure, attempt, governing)
          if (failure.kind === 'empty') continue
          const waitMs = failure.retryAfterMs ?? backoff(attempt)
          governing.onPause({ provider: governing.provider, attempt, waitMs, reason: describe(failure), agent: request.agent })
          await governing.sleep(waitMs, signal)
        }
      } finally {
        if (totalTokens(spent) > 0) governing.onLostUsage({ agent: request.agent, model: model.id, usage: spent })
      }
    },
  }
}

/** Ms before the try after `attempt`, when the provider names no time. */
function backoff(attempt: number): number {
  const step = Math.min(BACKOFF.firstMs * 2 ** (attempt - 1), BACKOFF.longestMs)
  return Math.round(step * (1 + BACKOFF.jitter * (2 * Math.random() - 1)))
}

const describe = ({ status, message }: TryFailure): string => (status !== null && status >= 400 ? `${status}: ${message}` : message)

function finalError(model: string, failure: TryFailure, attempts: number, { remedy }: Governing): CadreError {
  const tries = attempts > 1 ? ` after ${attempts} tries` : ''
  const message = `${model} failed${tries}: ${describe(failure).replace(/\.$/, '')}. ${remedy(failure)}`
  return new CadreError(failure.kind === 'rate' ? 'RATE_LIMIT' : 'MODEL', message, { cause: failure })
}
