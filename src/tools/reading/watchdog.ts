import { Script } from 'node:vm'

import { codeOf } from './confine.ts'

const SLOT = 'work under the watchdog'
const script = new Script(`globalThis[${JSON.stringify(SLOT)}]()`)

/**
 * Runs synchronous work and interrupts it after `ms`, also in the middle of a regular expression that would take for ever. Returns whether
 * it came to its end; what it throws is passed on. Costs about 0.35 ms. Interrupted work runs no `finally`: clean up after it.
 */
export function finishesWithin(ms: number, work: () => void): boolean {
  Object.defineProperty(globalThis, SLOT, { value: work, configurable: true })
  try {
    script.runInThisContext({ timeout: ms })
    return true
  } catch (error) {
    if (codeOf(error) === 'ERR_SCRIPT_EXECUTION_TIMEOUT') return false
    throw error
  } finally {
    Reflect.deleteProperty(globalThis, SLOT)
  }
}
