import { count, counted, duration, money } from './figures.ts'
import type { SweepSummary } from './summary.ts'

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
