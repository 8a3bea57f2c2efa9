import type { Json } from './json.ts'

/** Why a program was stopped: the limit it broke (PRG-04), as the result names it. */
export type ProgramLimit = 'heap' | 'running time' | 'pending calls' | 'log' | 'memory' | 'process ended'

/** One call a program is waiting for. `id` counts up from 1 within a program. */
export type ProgramCall = { readonly id: number; readonly tool: string; readonly input: Json }

/** What became of a call. A failed one throws its text inside the program. `text` of a good one is JSON, or plain text. */
export type ProgramOutcome = { readonly id: number; readonly ok: boolean; readonly text: string }

/** How far a program got: it waits for calls, returned, threw (with the Markdown line), or broke a limit. `log` is what it logged since the last step. */
export type ProgramStep =
  | { readonly kind: 'calls'; readonly calls: readonly ProgramCall[]; readonly log: string }
  | { readonly kind: 'done'; readonly value: Json | undefined; readonly pending: readonly ProgramCall[]; readonly log: string }
  | { readonly kind: 'error'; readonly message: string; readonly line: number | null; readonly log: string }
  | { readonly kind: 'limit'; readonly limit: ProgramLimit; readonly log: string }

/** All an isolate needs to begin. `time` (ms since 1970) and `seed` are the only clock and dice the program sees. */
export type ProgramStart = {
  readonly code: string
  /** Markdown line of the code's first line, for errors. */
  readonly line: number
  /** How the file is named in errors. */
  readonly file: string
  readonly prompt: string
  readonly tools: readonly string[]
  readonly time: number
  readonly seed: number
}
