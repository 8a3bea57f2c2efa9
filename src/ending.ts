import { addUsage, NO_USAGE } from './core/contract.ts'
import type { Usage } from './core/contract.ts'
import { CadreError, messageOf } from './core/errors.ts'
import type { DelegationStarted, EventSubject } from './core/events.ts'
import type { Json } from './core/json.ts'
import { undelivered } from './core/letter.ts'
import type { Letter } from './core/letter.ts'
import type { Restored } from './core/restored.ts'
import { NOTHING_YET } from './core/result-text.ts'
import type { AgentResult } from './core/result.ts'
import type { Stop } from './core/status.ts'
import { Stopped } from './core/stopped.ts'
import type { Progress } from './host/session.ts'

/** What a failed run is called (KIN-09). A fault nobody named is a crash of that agent, never a success. */
export function stopOf(error: unknown): Stop {
  if (error instanceof Stopped) return error.stop
  const reason = messageOf(error)
  if (!(error instanceof CadreError)) return { ending: { status: 'failed', cause: 'crashed' }, reason }
  switch (error.code) {
    case 'MODEL':
      return { ending: { status: 'failed', cause: 'model' }, reason }
    case 'RATE_LIMIT':
      return { ending: { status: 'failed', cause: 'rate_limit' }, reason }
    case 'PROGRAM':
      return { ending: { status: 'failed', cause: 'program' }, reason }
    case 'SETTINGS':
    case 'ISOLATE_UNAVAILABLE':
    case 'UNKNOWN_PROVIDER':
      return { ending: { status: 'failed', cause: 'setup' }, reason }
    default:
      return { ending: { status: 'failed', cause: 'crashed' }, reason }
  }
}

type Spent = Restored['spent']

/** USD of one request. */
type Cost = (model: string, usage: Usage) => number

/** What a run that has no conversation open has come to: what it had when it was interrupted, if it ever was (JRN-05). */
export function standing({ started, restored, cost }: { readonly started: DelegationStarted; readonly restored: Restored | null; readonly cost: Cost }): Progress {
  const nothing: Progress = { output: '', value: null, turns: 0, toolCalls: 0, usage: NO_USAGE, costUsd: 0, model: started.model, notes: [], reads: null }
  if (restored === null) return nothing
  const { output, value, turn, turnsBefore, toolCalls, spent, notes } = restored
  return plus({ ...nothing, output, value, turns: turn - turnsBefore, toolCalls, notes, model: spent.at(-1)?.model ?? started.model }, spent, cost)
}

/** With what was paid for besides. */
export const plus = (progress: Progress, spent: Spent, cost: Cost): Progress => ({
  ...progress,
  usage: spent.reduce((sum, { usage }) => addUsage(sum, usage), progress.usage),
  costUsd: spent.reduce((sum, { model, usage }) => sum + cost(model, usage), progress.costUsd),
})

/** What a run came to (AGT-09), however it ended (KIN-10). `value`: one that fits its output schema. Duration in ms. */
export function resultOf(run: {
  readonly subject: EventSubject
  readonly started: DelegationStarted
  readonly progress: Progress
  readonly durationMs: number
  readonly unread: readonly Letter[]
  readonly broughtBack?: Pick<AgentResult, 'worktree' | 'merge'> | null
}, stop: Stop, { notes, value }: { readonly notes: readonly string[]; readonly value?: Json }): AgentResult {
  const { subject, started, progress } = run
  const success = stop.ending.status === 'completed'
  return {
    agentId: subject.agent,
    agentType: started.agentType,
    typeHash: started.typeHash,
    title: started.title,
    continuedFrom: started.origin?.kind === 'continue' ? started.origin.agent : null,
    ...stop.ending,
    success,
    output: progress.output || NOTHING_YET,
    value: value ?? progress.value,
    error: success ? null : stop.reason,
    note: notes.join('\n'),
    model: progress.model,
    turns: progress.turns,
    toolCalls: progress.toolCalls,
    durationMs: Math.round(run.durationMs),
    usage: progress.usage,
    costUsd: progress.costUsd,
    worktree: run.broughtBack?.worktree ?? null,
    merge: run.broughtBack?.merge ?? null,
    undelivered: undelivered(run.unread, subject),
  }
}
