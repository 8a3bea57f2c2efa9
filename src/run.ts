import { performance } from 'node:perf_hooks'
import type { Brief, Effort, FileRead, Job, Model, Report, ToolCall, ToolOutcome, ToolSchema, Usage, Verdict } from './core/contract.ts'
import { addUsage, NO_USAGE, noOutcome } from './core/contract.ts'
import { CadreError, messageOf } from './core/errors.ts'
import type { DelegationStarted, EventBody, FrozenType } from './core/events.ts'
import type { Removal } from './core/grant.ts'
import { levelsBelow } from './core/grant.ts'
import { runLoop } from './core/loop.ts'
import type { AgentResult } from './core/result.ts'
import { NOTHING_YET } from './core/result-text.ts'
import type { Stop } from './core/status.ts'
import { COMPLETED } from './core/status.ts'
import { Stopped } from './core/stopped.ts'
import { cancellable } from './host/cancellable.ts'
import { granted } from './host/granted.ts'
import { openSession } from './host/session.ts'
import type { OutputCheck, Session } from './host/session.ts'
import type { Agent, Crew } from './supervisor.ts'

/** A run, decided in full: what is left is to do it. */
export type Plan = {
  readonly crew: Crew
  readonly agent: Agent
  readonly typeHash: string
  readonly removed: readonly Removal[]
  /** Opens the model; a fault here ends the run as `failed (setup)`. */
  openModel(): Model
  readonly modelName: string
  /** USD of one request. */
  cost(model: string, usage: Usage): number
  readonly effort?: Effort
  readonly cacheTtl?: '5m' | '1h'
  readonly system: string
  readonly prompt: string
  readonly tools: readonly ToolSchema[]
  readonly output?: { readonly check: OutputCheck; readonly retries: number }
  readonly seed: number
  readonly callId: string | null
  readonly notes: readonly string[]
  readonly frozen: FrozenType
  /** How the run is found again (a sweep item's key). */
  readonly key?: string
  decide(call: ToolCall): Verdict
  runCall(call: ToolCall): Promise<ToolOutcome>
}

/** Where a run's loop executes: a pooled thread, this thread, or one day another machine (DESIGN "Beyond one machine"). */
export type Place = (job: Job) => Promise<Report>

export type RunOutcome = {
  readonly result: AgentResult
  /** The files it rests on; null: not known. */
  readonly reads: readonly FileRead[] | null
}

type ReadCalls = (job: { readonly brief: Brief; readonly calls: readonly ToolCall[]; readonly signal: AbortSignal }) => Promise<readonly ToolOutcome[]>

/** The parent's loop, on this thread: its read calls still run in a thread of the pool, so a bad pattern stalls nobody else. */
export const onMainThread = (readCalls: ReadCalls): Place => ({ brief, host, signal }) =>
  runLoop(brief, host, async (call) => {
    const [outcome] = await readCalls({ brief, calls: [call], signal })
    return outcome ?? noOutcome(call)
  })

/** Runs one agent to its end: queue, slot, loop, then status, result and usage in one append. Never rejects for the agent's failure (AGT-09). */
export async function runAgent(plan: Plan, place: Place, { queue }: { readonly queue: boolean }): Promise<RunOutcome> {
  const { crew, agent } = plan
  let session: Session | null = null
  let model: Model | null = null
  let began = performance.now()
  let ended: Stop
  try {
    if (queue) await waitForSlot(plan)
    began = performance.now()
    await crew.record(agent.subject, [{ type: 'delegation.started', data: startedData(plan) }])
    model = open(plan)
    session = startSession(plan, model)
    const host = cancellable(granted(session.host, (call) => plan.decide(call)), agent.signal)
    const job: Job = { brief: briefOf(agent, model), host, signal: agent.signal }
    await withinTimeLimit(plan, () => place(job))
    ended = { ending: COMPLETED, reason: '' }
  } catch (error) {
    ended = agent.stopped ?? stopOf(error)
    // Whatever is still under way for it, a place in the queue included, is given up.
    crew.stop(agent, ended)
  }
  await endChildren(plan)
  agent.slot?.leave()
  const fault = await closeFault(model)
  const progress = session?.progress() ?? null
  const result = resultOf(plan, ended, progress, performance.now() - began, fault)
  const reads = progress?.reads ?? null
  try {
    const ended: EventBody = { type: 'delegation.ended', data: { result, ...(reads !== null && plan.key !== undefined && { reads }) } }
    const [event] = await crew.record(agent.subject, [ended], plan.key)
    // As journaled: without secrets, for whoever gets it (JRN-08).
    return { result: event?.type === 'delegation.ended' ? event.data.result : result, reads }
  } finally {
    crew.dismiss(agent)
  }
}

/** KIN-15: whoever ended, its children end first, and are journaled before it. */
async function endChildren({ crew, agent }: Plan): Promise<void> {
  const children = [...agent.children]
  for (const child of children) crew.stop(child, { ending: { status: 'killed', cause: 'parent' }, reason: 'The agent that started it ended.' })
  await Promise.all(children.map(({ gone }) => gone))
}

async function waitForSlot(plan: Plan): Promise<void> {
  const { crew, agent } = plan
  const { slots } = crew
  const levels = levelsBelow(agent.grant)
  const isFull = slots.isFull(levels)
  const place = slots.enter(agent.signal, levels).then((slot) => {
    agent.slot = slot
  })
  if (!isFull) return place
  const queued: EventBody = { type: 'delegation.queued', data: { ...startedData(plan), ahead: slots.queued - 1 } }
  await Promise.all([place, crew.record(agent.subject, [queued])])
}

function open(plan: Plan): Model {
  try {
    return plan.openModel()
  } catch (cause) {
    throw new Stopped({ ending: { status: 'failed', cause: 'setup' }, reason: messageOf(cause) })
  }
}

const startSession = (plan: Plan, model: Model): Session => openSession({
  agent: plan.agent.subject.agent,
  model,
  system: plan.system,
  tools: plan.tools,
  prompt: plan.prompt,
  maxTurns: plan.agent.grant.limits.maxTurns,
  ...(plan.effort !== undefined && { effort: plan.effort }),
  ...(plan.cacheTtl && { cacheTtl: plan.cacheTtl }),
  ...(plan.output && { output: plan.output }),
  signal: plan.agent.signal,
  record: (events) => plan.crew.record(plan.agent.subject, events),
  onDelta: (delta) => plan.crew.show(plan.agent.subject, { type: 'delta', data: delta.kind === 'reset' ? { kind: 'reset', text: '' } : delta }),
  runCall: (call) => plan.runCall(call),
  now: () => Date.now(),
  cost: (model, usage) => plan.cost(model, usage),
})

/** KIN-12: time in queue does not count, and the timer's clock stands still while the machine sleeps. */
async function withinTimeLimit<T>(plan: Plan, work: () => Promise<T>): Promise<T> {
  const { timeout } = plan.agent.grant.limits
  const timer = setTimeout(() => {
    plan.crew.stop(plan.agent, { ending: { status: 'partial', cause: 'timeout' }, reason: `It reached its time limit of ${timeout} s.` })
  }, Math.min(timeout * 1000, LONGEST_TIMER_MS))
  try {
    return await work()
  } finally {
    clearTimeout(timer)
  }
}

/** Node's timers fire at once beyond this. */
const LONGEST_TIMER_MS = 2 ** 31 - 1

/** What a failed run is called (KIN-09). A fault nobody named is a crash of that agent, never a success. */
function stopOf(error: unknown): Stop {
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

async function closeFault(model: Model | null): Promise<string | null> {
  try {
    await model?.close?.()
    return null
  } catch (error) {
    return `its model could not be closed: ${messageOf(error)}`
  }
}

const briefOf = ({ subject, grant }: Agent, model: Model): Brief =>
  ({ agent: subject.agent, type: grant.type, root: grant.root, paths: grant.paths, form: model.id === 'script' ? 'data' : 'text' })

const startedData = (plan: Plan): DelegationStarted => ({
  title: plan.agent.title,
  agentType: plan.agent.grant.type,
  typeHash: plan.typeHash,
  typePath: plan.agent.type?.path ?? null,
  model: plan.modelName,
  system: plan.system,
  prompt: plan.prompt,
  grant: plan.agent.grant,
  removed: plan.removed,
  cwd: plan.agent.grant.root,
  frozen: plan.frozen,
  origin: null,
  expectedDuration: null,
  background: false,
  seed: plan.seed,
  callId: plan.callId,
})

function resultOf(plan: Plan, ended: Stop, progress: ReturnType<Session['progress']> | null, durationMs: number, fault: string | null): AgentResult {
  const lost = plan.agent.lostUsage
  const usage = addUsage(progress?.usage ?? NO_USAGE, lost)
  return {
    agentId: plan.agent.subject.agent,
    agentType: plan.agent.grant.type,
    typeHash: plan.typeHash,
    title: plan.agent.title,
    continuedFrom: null,
    ...ended.ending,
    success: ended.ending.status === 'completed',
    output: progress?.output || NOTHING_YET,
    value: progress?.value ?? null,
    error: ended.ending.status === 'completed' ? null : ended.reason,
    note: [...plan.notes, ...(progress?.notes ?? []), ...(fault ? [fault] : [])].join('\n'),
    model: progress?.model ?? plan.modelName,
    turns: progress?.turns ?? 0,
    toolCalls: progress?.toolCalls ?? 0,
    durationMs: Math.round(durationMs),
    usage,
    costUsd: (progress?.costUsd ?? 0) + plan.cost(plan.modelName, lost),
    worktree: null,
    undelivered: [],
  }
}
