import type { FileRead, Report, ToolOutcome } from '../core/contract.ts'
import type { RunAnswer } from '../core/thread.ts'

/** Far above what an honest thread sends; what is above is refused before anything looks at it. */
export const PLAIN_LIMITS = { items: 200_000, chars: 128 * 1024 * 1024 }

/**
 * Reads values a thread sent (SHL-07). Each function gives a fresh copy of exactly the expected shape, or null: an extra key, a class
 * instance, a hole, a cycle or a value that is too large never gets further than here.
 */
export function outcomesFrom(value: unknown): readonly ToolOutcome[] | null {
  return within(list(value, outcomeFrom))
}

/** Call ids. */
export function idsFrom(value: unknown): readonly string[] | null {
  return within(list(value, text))
}

/** A thread's answer to a run. */
export function runAnswerFrom(value: unknown): RunAnswer | null {
  const answer = record(value, ['ok'], ['report', 'outcomes', 'error'])
  if (answer === null) return null
  if (answer['ok'] === true && !('error' in answer)) {
    if (answer['report'] === null) {
      if (!('outcomes' in answer)) return { ok: true, report: null }
      const outcomes = outcomesFrom(answer['outcomes'])
      return outcomes && { ok: true, report: null, outcomes }
    }
    if ('outcomes' in answer) return null
    const report = within(reportFrom(answer['report']))
    return report && { ok: true, report }
  }
  const error = text(answer['error'])
  return answer['ok'] !== false || error === null || 'report' in answer || 'outcomes' in answer ? null : { ok: false, error }
}

function reportFrom(value: unknown): Report | null {
  const report = record(value, ['text', 'turns'])
  if (report === null) return null
  const { text: words, turns } = report
  return typeof words === 'string' && typeof turns === 'number' && Number.isSafeInteger(turns) && turns > 0 ? { text: words, turns } : null
}

function outcomeFrom(value: unknown): ToolOutcome | null {
  const outcome = record(value, ['callId', 'tool', 'ok', 'text'], ['reads'])
  if (outcome === null) return null
  const { callId, tool, ok, text: words } = outcome
  if (typeof callId !== 'string' || typeof tool !== 'string' || typeof ok !== 'boolean' || typeof words !== 'string') return null
  if (!('reads' in outcome)) return { callId, tool, ok, text: words }
  const reads = list(outcome['reads'], readFrom)
  return reads && { callId, tool, ok, text: words, reads }
}

function readFrom(value: unknown): FileRead | null {
  const read = record(value, ['path', 'hash'])
  if (read === null) return null
  const { path, hash } = read
  return typeof path === 'string' && typeof hash === 'string' ? { path, hash } : null
}

const text = (value: unknown): string | null => (typeof value === 'string' ? value : null)

/** A copy, without prototype, of an object literal that has all of `needed` and at most `optional` besides. */
export function record(value: unknown, needed: readonly string[], optional: readonly string[] = []): Readonly<Record<string, unknown>> | null {
  if (typeof value !== 'object' || value === null || Object.getPrototypeOf(value) !== Object.prototype) return null
  const keys = Object.keys(value)
  const fits = needed.every((key) => keys.includes(key)) && keys.every((key) => needed.includes(key) || optional.includes(key))
  return fits ? Object.assign(Object.create(null) as Record<string, unknown>, value) : null
}

/** A copy of an array, each entry read by `entry`. */
export function list<Entry>(value: unknown, entry: (value: unknown) => Entry | null): readonly Entry[] | null {
  if (!Array.isArray(value) || value.length > PLAIN_LIMITS.items) return null
  const entries: Entry[] = []
  for (const raw of Array.from<unknown>(value)) {
    const read = entry(raw)
    if (read === null) return null
    entries.push(read)
  }
  return entries
}

/** The value, unless all its texts together are too long. Only for values read by the functions above: they have no cycles. */
function within<Value>(value: Value | null): Value | null {
  let chars = 0
  const count = (part: unknown): void => {
    if (typeof part === 'string') chars += part.length
    else if (typeof part === 'object' && part !== null) Object.values(part).forEach(count)
  }
  count(value)
  return chars > PLAIN_LIMITS.chars ? null : value
}
