import type { ProgramCall } from '../core/program.ts'

/** Calls named one by one, and how much of each. */
const NAMED_CALLS = 10
const CALL_CHARS = 120

/** The note of a program that returned before its calls were answered (PRG-06): they never ran, or nobody waits for them. */
export function pendingNote(pending: readonly ProgramCall[]): string {
  const named = pending.slice(0, NAMED_CALLS).map(({ tool, input }) => {
    const call = `${tool} ${JSON.stringify(input)}`
    return call.length > CALL_CHARS ? `${call.slice(0, CALL_CHARS)}…` : call
  })
  const more = pending.length - named.length
  return `Calls still pending when the program returned were cancelled: ${named.join('; ')}${more > 0 ? `; and ${more} more` : ''}`
}
