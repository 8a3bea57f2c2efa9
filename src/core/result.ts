import type { FileRead, Usage } from './contract.ts'
import type { Json } from './json.ts'
import type { Cause, FinalStatus } from './status.ts'

/** What a run came to, in code (AGT-09). Failures are returned, never thrown. Times in ms, cost in USD. */
export type AgentResult = {
  readonly agentId: string
  readonly agentType: string
  readonly typeHash: string
  readonly title: string
  /** The agent whose conversation this one goes on with (STR-08). */
  readonly continuedFrom: string | null
  readonly status: FinalStatus
  readonly cause: Cause | null
  /** True only for `completed`. */
  readonly success: boolean
  /** The whole last text, uncut. */
  readonly output: string
  /** The typed value: JSON valid against the output schema, or a program's return value. */
  readonly value: Json | null
  /** Why it did not complete; null when it did. */
  readonly error: string | null
  /** One line per fallback, ignored field or worktree; empty string when there is none. */
  readonly note: string
  readonly model: string
  readonly turns: number
  readonly toolCalls: number
  readonly durationMs: number
  readonly usage: Usage
  readonly costUsd: number
  readonly worktree: null | { readonly path: string; readonly branch: string; readonly baseSha: string; readonly behind: number }
  /** What became of its changes where they are merged (WKT-11); null: they were not to be. */
  readonly merge: null | Merge
  /** Messages it never read. */
  readonly undelivered: readonly string[]
}

/** What the merge queue did with an agent's branch. */
export type Merge =
  | { readonly status: 'landed'; readonly commit: string }
  | { readonly status: 'unchanged' }
  | { readonly status: 'conflict'; readonly branch: string; readonly base: string; readonly files: readonly string[] }
  /** `log`: the end of what the verify command wrote. */
  | { readonly status: 'red'; readonly branch: string; readonly log: string }
  /** The user has uncommitted changes in these files (WKT-10). */
  | { readonly status: 'overlap'; readonly branch: string; readonly files: readonly string[] }

export type RunOutcome = {
  readonly result: AgentResult
  /** The files it rests on; null: not known. */
  readonly reads: readonly FileRead[] | null
}
