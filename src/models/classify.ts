import type { Usage } from '../core/contract.ts'
import { messageOf } from '../core/errors.ts'
import { isObject } from '../core/json.ts'
import { saysContextOverflow } from './context-overflow.ts'
import { redact } from './redact.ts'
import { retryAfter } from './retry-after.ts'
import { type FailureKind, TryFailure } from './try-failure.ts'

const MAX_MESSAGE_CHARS = 1_000

/** How much of a body that is no JSON is shown. */
const BODY_CHARS = 200

/** How deep a chain of causes is searched: they can be circular. */
const MAX_CAUSES = 8

export type TryFacts = {
  /** The provider had begun to answer: whatever went wrong then is a broken stream. */
  readonly begun: boolean
  readonly usage: Usage
  readonly secrets: readonly string[]
}

/**
 * What a thrown value or a stream's error part means, with what the try used. The errors of the provider packages are read by their
 * properties: importing their classes would load them before they are needed.
 */
export function classify(error: unknown, { begun, usage, secrets }: TryFacts): TryFailure {
  const ours = causesOf(error).find((cause) => cause instanceof TryFailure)
  if (ours) {
    const { kind, status, retryAfterMs } = ours
    return new TryFailure(redact(ours.message, secrets), { kind, status, retryAfterMs, usage })
  }
  const status = statusOf(error)
  const text = textOf(error)
  const seen = kindOf(error, status, begun)
  // Said in the middle of a stream, or with a 500: the same request will not fit the next time either.
  const kind = seen !== 'rate' && saysContextOverflow(text) ? 'refused' : seen
  const facts = { kind, status, usage, retryAfterMs: retryAfter(headersOf(error), Date.now()) }
  return new TryFailure(redact(text, secrets).slice(0, MAX_MESSAGE_CHARS), facts)
}

function kindOf(error: unknown, status: number | null, begun: boolean): FailureKind {
  if (status === 429) return 'rate'
  if (status === 408 || (status !== null && status >= 500)) return 'server'
  if (status !== null && status >= 400) return 'refused'
  if (begun || status !== null) return 'stream'
  return isNetworkError(error) ? 'network' : 'refused'
}

const property = (value: unknown, name: string): unknown =>
  typeof value === 'object' && value !== null && name in value ? (value as Readonly<Record<string, unknown>>)[name] : undefined

/** The HTTP status of an error, or the one a gateway writes as `code` into an error in the middle of a stream. */
function statusOf(error: unknown): number | null {
  const status = property(error, 'statusCode')
  if (typeof status === 'number') return status
  const code = property(error, 'code')
  return typeof code === 'number' && code >= 400 && code < 600 ? code : null
}

function headersOf(error: unknown): Readonly<Record<string, string>> {
  const headers = property(error, 'responseHeaders')
  if (typeof headers !== 'object' || headers === null) return {}
  const texts = Object.entries(headers).flatMap(([name, value]) => (typeof value === 'string' ? [[name.toLowerCase(), value] as const] : []))
  return Object.fromEntries(texts)
}

/** fetch failed, or a socket did: said by a system error code somewhere among the causes. */
function isNetworkError(error: unknown): boolean {
  return causesOf(error).some((cause) => {
    const code = property(cause, 'code')
    return (typeof code === 'string' && /^(?:E[A-Z]+|UND_ERR_[A-Z_]+)$/.test(code)) || property(cause, 'isRetryable') === true
  })
}

/** An error and what caused it, outermost first: the packages wrap what the reading of a body throws. */
function causesOf(error: unknown): readonly object[] {
  const causes: object[] = []
  for (let current = error; causes.length < MAX_CAUSES && typeof current === 'object' && current !== null;) {
    causes.push(current)
    current = property(current, 'cause')
  }
  return causes
}

/** The provider's own words: the message of its error, else the beginning of the body, else the innermost cause. */
function textOf(error: unknown): string {
  const message = typeof property(error, 'message') === 'string' ? String(property(error, 'message')).trim() : messageOf(error)
  const body = property(error, 'responseBody')
  if (statusOf(error) !== null && typeof body === 'string') {
    return bodyMessage(body) ?? (message || body.trim().slice(0, BODY_CHARS) || 'no message')
  }
  const cause = property(error, 'cause')
  const inner = cause === undefined ? '' : messageOf(cause)
  return inner && !message.includes(inner) ? `${message}: ${inner}` : message || 'no message'
}

/** Both wires put it at `error.message`; some servers answer `{"error": "<text>"}`, `{"message": …}` or `{"detail": …}`. */
function bodyMessage(body: string): string | null {
  let parsed: unknown
  try {
    parsed = JSON.parse(body)
  } catch {
    return null
  }
  if (!isObject(parsed)) return null
  const { error } = parsed
  const found = isObject(error) ? error['message'] : (error ?? parsed['message'] ?? parsed['detail'])
  return typeof found === 'string' && found.trim() !== '' ? found.trim() : null
}
