import type { SweepSummary } from './summary.ts'

/** `12,345`. */
export const count = (value: number): string => value.toLocaleString('en-US')

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

/** `src/a.ts`, or `src/a.ts and 49 more`. */
export const named = (items: readonly string[], total: number = items.length): string =>
  `${items[0] ?? ''}${total > 1 ? ` and ${count(total - 1)} more` : ''}`

/**
 * `4,812 of 5,000 items completed, 12 of them earlier; 188 failed; 1,204 findings; 12 s; $0.42`: all that is worth saying, and no zeros.
 */
export function headline(summary: SweepSummary): string {
  const { total, completed, cached, failed, left, duplicates, findings, durationMs, costUsd } = summary
  const done = completed === total ? counted(total, 'item') : `${count(completed)} of ${counted(total, 'item')}`
  const earlier = cached === completed ? ', all earlier' : `, ${count(cached)} of them earlier`
  return [
    `${done} completed${cached > 0 ? earlier : ''}`,
    failed > 0 && `${count(failed)} failed`,
    left > 0 && `${count(left)} not run`,
    duplicates > 0 && `${counted(duplicates, 'duplicate')} left out`,
    findings.total > 0 && counted(findings.total, 'finding'),
    duration(durationMs),
    costUsd > 0 && money(costUsd),
  ].filter(Boolean).join('; ')
}

/** What to do now, one sentence each; empty when all is well and kept. */
export function nextSteps({ status, failed, left }: SweepSummary): readonly string[] {
  if (failed + left === 0) return []
  const those = (number: number, what: string) => number > 0 && (number === 1 ? `the one ${what}` : `the ${count(number)} ${what}`)
  const again = [those(failed, 'failed'), those(left, 'not run')].filter(Boolean).join(' and ')
  const before = status === 'stopped' ? 'Mend the cause, then run' : 'Run'
  return [`${before} the same command again for ${again}; finished items are skipped.`]
}
