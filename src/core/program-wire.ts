import type { ProgramOutcome, ProgramStart } from './program.ts'

/** What one program may hand out of its isolate. Sizes in UTF-16 code units, which is what V8 counts a string in. */
export const PROGRAM_LIMITS = {
  /** PRG-04 */
  pendingCalls: 256,
  /** PRG-04: 64 KB */
  logChars: 65_536,
  /** The JSON of the return value, or of all inputs of one turn's calls. */
  jsonChars: 4_000_000,
  /** One answer: the value, the inputs of the calls still pending, the log, and what quoting adds. */
  answerChars: 10_000_000,
} as const

/** What the main side hands to an isolate process: nothing but a wish to be ready, or a program to run. `run` tells programs apart. */
export type ProgramTask = { readonly kind: 'warm' } | { readonly kind: 'run'; readonly run: number; readonly start: ProgramStart }

/** What the main side sends while a program waits for its calls. */
export type ProgramRequest =
  | { readonly kind: 'resume'; readonly run: number; readonly outcomes: readonly ProgramOutcome[]; readonly time: number }
  | { readonly kind: 'close'; readonly run: number }

/** What an isolate process answers: `body` is the JSON of a step as the guest wrote it, to be checked by who reads it. */
export type ProgramAnswer = { readonly run: number; readonly body: string } | { readonly run: number; readonly unavailable: string }
