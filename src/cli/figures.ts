import { count, money } from '../sweep/figures.ts'

/** Characters of text to one token, near enough for a size a person reads. */
const BYTES_PER_TOKEN = 4

/** `840`, `12.3k`, `4.5M`. */
export function short(number: number): string {
  if (number < 1_000) return count(number)
  return number < 999_950 ? `${(number / 1_000).toFixed(1)}k` : `${(number / 1_000_000).toFixed(1)}M`
}

/** A cost in a table: `$0.42`, and a dash for nothing. */
export const cost = (usd: number): string => (usd === 0 ? '–' : money(usd))

/** `2026-11-03 14:07`, local time. */
export function moment(ms: number): string {
  const at = new Date(ms)
  return `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())} ${two(at.getHours())}:${two(at.getMinutes())}`
}

/** About how many tokens so many bytes of English and JSON are. */
export const tokensOf = (bytes: number): number => Math.ceil(bytes / BYTES_PER_TOKEN)

const two = (number: number): string => String(number).padStart(2, '0')
