/** The longest a timer can wait; longer ones would fire at once. */
const MAX_TIMER_MS = 2 ** 31 - 1

/** How long response headers ask to wait, in ms: `retry-after-ms`, or `retry-after` in seconds or as a date. Null: for no time. */
export function retryAfter(headers: Readonly<Record<string, string | undefined>>, now: number): number | null {
  const ms = number(headers['retry-after-ms'])
  const seconds = number(headers['retry-after'])
  const date = seconds === null ? Date.parse(headers['retry-after'] ?? '') - now : Number.NaN
  const wait = ms ?? (seconds === null ? date : seconds * 1_000)
  return Number.isFinite(wait) && wait > 0 ? Math.min(Math.ceil(wait), MAX_TIMER_MS) : null
}

function number(value: string | undefined): number | null {
  return value !== undefined && /^\s*\d+(?:\.\d+)?\s*$/.test(value) ? Number(value) : null
}
