import { performance } from 'node:perf_hooks'
import type { Usage } from './core/contract.ts'
import { addUsage, NO_USAGE } from './core/contract.ts'
import { CadreError, messageOf } from './core/errors.ts'
import type { Json } from './core/json.ts'
import { undelivered } from './core/letter.ts'
import { NOTHING_YET } from './core/result-text.ts'
import type { AgentResult } from './core/result.ts'
import type { Stop } from './core/status.ts'
import { Stopped } from './core/stopped.ts'
import type { Agent } from './supervisor.ts'

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

/** What a run came to (AGT-09), however it ended (KIN-10). `value`: one that fits its output schema. */
export function resultOf(agent: Agent, stop: Stop, { notes, value, cost }: {
  readonly notes: readonly string[]
  readonly value?: Json
  cost(model: string, usage: Usage): number
}): AgentResult {
  const { started, lostUsage, began, restored } = agent
  const progress = agent.session?.progress() ?? null
  const usage = addUsage(progress?.usage ?? NO_USAGE, lostUsage)
  const durationMs = (began === null ? 0 : performance.now() - began) + (restored?.elapsedMs ?? 0)
  return {
    agentId: agent.subject.agent,
    agentType: started.agentType,
    typeHash: started.typeHash,
    title: started.title,
    continuedFrom: started.origin?.kind === 'continue' ? started.origin.agent : null,
    ...stop.ending,
    success: stop.ending.status === 'completed',
    output: progress?.output || restored?.output || NOTHING_YET,
    value: value ?? progress?.value ?? null,
    error: stop.ending.status === 'completed' ? null : stop.reason,
    note: notes.join('\n'),
    model: progress?.model ?? started.model,
    turns: progress?.turns ?? 0,
    toolCalls: progress?.toolCalls ?? 0,
    durationMs: Math.round(durationMs),
    usage,
    costUsd: (progress?.costUsd ?? 0) + cost(started.model, lostUsage),
    worktree: null,
    undelivered: undelivered(agent.mailbox.unread, agent.subject),
  }
}
