import type { Diagnostic } from './core/diagnostic.ts'
import { messageOf } from './core/errors.ts'

/** Calls a listener of the host application. It never throws, and neither does a promise the listener gives. */
export type Teller = (tell: () => unknown) => void

/**
 * A host's own listener that fails, fails no agent. The first fault is told to `report` alone, which is one of those listeners: an event about it
 * would be told to the one that failed again.
 */
export function createTeller(report: (fault: Diagnostic) => unknown): Teller {
  let told = false

  async function heard(tell: () => unknown): Promise<void> {
    try {
      await tell()
    } catch (error) {
      if (told) return
      told = true
      await heard(() => report({
        path: 'createOrchestrator', line: 1, severity: 'warning', message: `a listener failed: ${messageOf(error)}`, remedy: 'the agents go on; what it fails at is lost to it',
      }))
    }
  }

  return (tell) => void heard(tell)
}
