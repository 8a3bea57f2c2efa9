import type { AgentResult } from '../core/result.ts'
import type { Finding } from './findings.ts'

/** One run that did not complete. */
export type Failure = {
  readonly index: number
  readonly items: readonly string[]
  /** `failed (model)`. */
  readonly ending: string
  readonly reason: string
  readonly agentId: string
}

/** Failures with one cause: the reason as the first of them gives it, how many items it cost, and a few of them. */
export type FailureGroup = {
  readonly ending: string
  readonly reason: string
  readonly items: number
  readonly examples: readonly string[]
}

/** What an agent answered that is no list of findings, cut short. */
export type Answer = { readonly index: number; readonly items: readonly string[]; readonly text: string }

/** What a sweep came to. Counts are of items; lists hold the first few only, the rest is in `results.jsonl`. Time in ms, cost in USD. */
export type SweepSummary = {
  /** `stopped`: one error hit every agent, so the rest was not tried; `interrupted`: the signal. */
  readonly status: 'completed' | 'failed' | 'stopped' | 'interrupted'
  /** Why it was `stopped`, or why the reduce agent failed; else null. */
  readonly reason: string | null
  readonly agent: string
  readonly over: string
  readonly total: number
  readonly duplicates: number
  /** Those with a good result, `cached` ones (skipped, finished earlier) among them. */
  readonly completed: number
  readonly cached: number
  readonly failed: number
  /** Not run, or cut short. */
  readonly left: number
  /** Agents that ran to an end of their own in this sweep. */
  readonly runs: number
  /** Spent in this sweep. */
  readonly costUsd: number
  readonly durationMs: number
  readonly findings: {
    readonly total: number
    /** Most frequent first. */
    readonly kinds: readonly { readonly kind: string; readonly count: number }[]
    readonly first: readonly Finding[]
  }
  readonly failures: { readonly groups: readonly FailureGroup[]; readonly first: readonly Failure[] }
  readonly answers: { readonly total: number; readonly first: readonly Answer[] }
  /** What the reduce agent said; null when there was none. */
  readonly reduced: AgentResult | null
  /** The files written, by their full path; null for those that were not. */
  readonly files: { readonly results: string | null; readonly report: string | null; readonly sarif: string | null }
}

const EXIT_CODES: Readonly<Record<SweepSummary['status'], number>> = { completed: 0, failed: 3, stopped: 3, interrupted: 130 }

/** CMD-03, CMD-05: 0 when all completed, 3 when any did not, 130 when it was interrupted. */
export const exitCodeOf = (summary: Pick<SweepSummary, 'status'>): number => EXIT_CODES[summary.status]
