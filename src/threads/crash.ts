import { CadreError, messageOf } from '../core/errors.ts'

const REMEDY = 'Other agents are not affected; start it again, or ask for less at a time.'

/** The error of a thread that ended on its own (KIN-13). `who` names the agent, its turn and its calls in hand. */
export const crashed = (who: string, what: string, cause?: unknown): CadreError =>
  new CadreError('CRASHED', `The thread of ${who}: ${what}. ${REMEDY}`, { cause })

/** What became of a thread, from the error its pool gives. `heapMb` is its heap limit. */
export function fateOf(error: unknown, heapMb: number): string {
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  if (code === 'ERR_WORKER_OUT_OF_MEMORY') return `it ran out of memory (its heap may hold ${heapMb} MB)`
  const message = messageOf(error)
  const exit = /^worker exited with code: (-?\d+)$/.exec(message)
  return exit ? `it exited with code ${exit[1]}` : `it threw: ${message}`
}
