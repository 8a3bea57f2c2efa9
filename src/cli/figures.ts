/** Characters of text to one token, near enough for a size a person reads. */
const BYTES_PER_TOKEN = 4

const WHOLE = new Intl.NumberFormat('en-US', { maximumFractionDigits: 0 })

/** `12,345`. */
export const count = (number: number): string => WHOLE.format(number)

/** `1 file`, `2 files`. */
export const several = (number: number, noun: string): string => `${count(number)} ${noun}${number === 1 ? '' : 's'}`

/** `840`, `12.3k`, `4.5M`. */
export function short(number: number): string {
  if (number < 1_000) return count(number)
  return number < 999_950 ? `${(number / 1_000).toFixed(1)}k` : `${(number / 1_000_000).toFixed(1)}M`
}

/** `$0.0042`, four decimals as in AGT-05; nothing for nothing. */
export const cost = (usd: number): string => (usd === 0 ? '–' : `$${usd.toFixed(usd < 10 ? 4 : 2)}`)

/** `0.4 s`, `12 s`, `3 m 05 s`, `2 h 07 m`. */
export function duration(ms: number): string {
  const seconds = ms / 1_000
  if (seconds < 10) return `${seconds.toFixed(1)} s`
  const whole = Math.round(seconds)
  if (whole < 60) return `${whole} s`
  if (whole < 3_600) return `${Math.floor(whole / 60)} m ${two(whole % 60)} s`
  return `${Math.floor(whole / 3_600)} h ${two(Math.floor((whole % 3_600) / 60))} m`
}

/** `2026-11-03 14:07`, local time. */
export function moment(ms: number): string {
  const at = new Date(ms)
  return `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())} ${two(at.getHours())}:${two(at.getMinutes())}`
}

/** About how many tokens so many bytes of English and JSON are. */
export const tokensOf = (bytes: number): number => Math.ceil(bytes / BYTES_PER_TOKEN)

const two = (number: number): string => String(number).padStart(2, '0')
