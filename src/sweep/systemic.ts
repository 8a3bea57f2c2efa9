import type { Cause } from '../core/status.ts'
import { endingOf, reasonOf, sharedReason, type Outcome } from './outcome.ts'

/** Causes that lie outside the items: a key, a server, a setting. What a program or a model makes of one item is not among them. */
const OUTSIDE: readonly Cause[] = ['setup', 'model', 'rate_limit']
/** How many runs in a row must fail alike, to the word, before the rest is not tried: before and after the first good one. */
export const SYSTEMIC = { runsBeforeAnyCompleted: 20, runsAfter: 100 } as const

/**
 * Watches for one error that hits every agent, so that 10,000 items do not fail (and wait, and pay) 10,000 times. Answers the reason to
 * stop, or null. Failures that differ, or that have one good run among them, never stop a sweep.
 */
export function createSystemicWatch(): (outcome: Outcome) => string | null {
  let last = ''
  let inARow = 0
  let anyCompleted = false
  return (outcome) => {
    const { result } = outcome
    if (result.success || result.cause === null || !OUTSIDE.includes(result.cause)) {
      anyCompleted ||= result.success
      inARow = 0
      return null
    }
    const kind = `${endingOf(result)} ${sharedReason(outcome)}`
    inARow = kind === last ? inARow + 1 : 1
    last = kind
    if (inARow < (anyCompleted ? SYSTEMIC.runsAfter : SYSTEMIC.runsBeforeAnyCompleted)) return null
    return `${inARow} agents in a row ended as ${endingOf(result)} with the same error: ${reasonOf(result)}`
  }
}
