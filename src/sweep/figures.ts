/** `12,345`. Not by `Intl`, which costs a command 30 ms the first time. */
export const count = (value: number): string => String(value).replace(/\B(?=(\d{3})+$)/g, ',')

/** `1 finding`, `12 findings`. */
export const counted = (value: number, noun: string): string => `${count(value)} ${noun}${value === 1 ? '' : 's'}`

/** `0.4 s`, `12 s`, `3 min 5 s`, `2 h 10 min`: two parts at most. */
export function duration(ms: number): string {
  if (ms < 9_950) return `${(Math.max(0, ms) / 1000).toFixed(1)} s`
  const seconds = Math.round(ms / 1000)
  if (seconds < 60) return `${seconds} s`
  const minutes = seconds < 3600 ? Math.floor(seconds / 60) : Math.round(seconds / 60)
  return minutes < 60 ? two(minutes, 'min', seconds % 60, 's') : two(Math.floor(minutes / 60), 'h', minutes % 60, 'min')
}

const two = (large: number, unit: string, small: number, smaller: string) => `${large} ${unit}${small > 0 ? ` ${small} ${smaller}` : ''}`

/** `$0.42`, with more digits for less than a cent. */
export const money = (usd: number): string => `$${usd.toFixed(usd > 0 && usd < 0.01 ? 4 : 2)}`
