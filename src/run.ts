import { setTimeout as pause } from 'node:timers/promises'
import { noOutcome } from './core/contract.ts'
import type { Host, Job, Message, Model, ToolCall, ToolOutcome, ToolSchema, Usage } from './core/contract.ts'
import { messageOf } from './core/errors.ts'
import type { EventBody } from './core/events.ts'
import { levelsBelow } from './core/grant.ts'
import type { Json } from './core/json.ts'
import { runLoop } from './core/loop.ts'
import type { RunOutcome } from './core/result.ts'
import { COMPLETED, PARENT_ENDED } from './core/status.ts'
import type { Stop } from './core/status.ts'
import { Stopped } from './core/stopped.ts'
import { attends, secondsRunning, turnText } from './delivery.ts'
import type { DeliveryOptions } from './delivery.ts'
import { plus, resultOf, standing, stopOf } from './ending.ts'
import { cancellable } from './host/cancellable.ts'
import { granted } from './host/granted.ts'
import { insistent } from './host/insistent.ts'
import { reminder } from './host/mailbox.ts'
import { fitsSchema } from './host/repaired.ts'
import type { OutputCheck } from './host/repaired.ts'
import { repeating } from './host/repeating.ts'
import { openSession } from './host/session.ts'
import type { Session, SessionOptions } from './host/session.ts'
import type { BroughtBack } from './isolation.ts'
import type { Gate, Writer } from './schedule/gate.ts'
import type { Need } from './schedule/slots.ts'
import type { Place } from './services.ts'
import { briefOf } from './supervisor.ts'
import type { Agent, Crew } from './supervisor.ts'
import type { Toolkit } from './toolkit.ts'

/** A run, decided in full: what is left is to do it. */
export type Plan = {
  readonly crew: Crew
  readonly agent: Agent
  /** The gate of its root, and who asks there; null for a run that needs none: a reader, and the root run, which asks call by call (KIN-04, 05). */
  readonly gate: { now(): Gate; readonly writer: Writer } | null
  /** Opens the model; a fault here ends the run as `failed (setup)`. */
  openModel(): Model
  /** USD of one request. */
  cost(model: string, usage: Usage): number
  /** What its conversation begins with, its own prompt last. Asked for once, when it runs. */
  messages(): readonly Message[]
  readonly tools: readonly ToolSchema[]
  /** Null for a program. */
  readonly compaction: Omit<NonNullable<SessionOptions['compaction']>, 'autoCompactWindow'> | null
  readonly output?: { readonly check: OutputCheck; readonly retries: number }
  readonly notes: readonly string[]
  /** Whether a model asked for it (KIN-08). */
  readonly paced: boolean
  /** What the user asks of a run that goes on: journaled with its start. */
  readonly opening?: string
  /** How the run is found again (a sweep item's key). */
  readonly key?: string
  readonly delivery: DeliveryOptions
  readonly verification?: Verification
  /** DEL-11: what each of its turns ends with. */
  trailer(): string | null
  readonly toolkit: Toolkit
  /** Brings back what it changed in a worktree of its own; absent: it has none. */
  bringBack?(success: boolean): Promise<BroughtBack>
}

/** What happens to the changes of a run that says it is done (VER-01…06). */
export type Verification = {
  /** For `insistent`: whether the run has ended; else its mailbox says why not. */
  isLast(): Promise<boolean>
  /** Lines for its result. */
  notes(): readonly string[]
  /** Resolves when no process it started is alive. */
  settled(): Promise<unknown>
}

type ReadCalls = (job: { readonly brief: Job['brief']; readonly calls: readonly ToolCall[]; readonly signal: AbortSignal }) => Promise<readonly ToolOutcome[]>

/** The parent's loop, on this thread: its read calls still run in a thread of the pool, so a bad pattern stalls nobody else. */
export const onMainThread = (readCalls: ReadCalls): Place => ({ brief, host, signal }) =>
  runLoop(brief, host, async (call) => {
    const [outcome] = await readCalls({ brief, calls: [call], signal })
    return outcome ?? noOutcome(call)
  })

/** A run on its way. */
export type Begun = {
  readonly agent: Agent
  /** Resolves when its start is journaled: with how many wait before it, or null if it need not wait. */
  readonly queued: Promise<number | null>
  /** Its end. Never rejects for the agent's failure (AGT-09). */
  readonly ended: Promise<RunOutcome>
}

/** Runs one agent to its end: queue, slot, loop, then status, result and usage in one append. */
export function beginAgent(plan: Plan, place: Place, options: { readonly queue: boolean }): Begun {
  const { promise: queued, resolve } = Promise.withResolvers<number | null>()
  const ended = runToEnd(plan, place, { ...options, onQueued: resolve })
  plan.agent.run = ended
  // Ended without a start in the journal: the end says why.
  ended.then(() => resolve(null), () => resolve(null))
  return { agent: plan.agent, queued, ended }
}

/** What a run's last reply was taken for: a value that fits its schema, and whether its background agents go on without it. */
type Taken = { value?: Json; leaves: boolean }

async function runToEnd(plan: Plan, place: Place, { queue, onQueued }: { readonly queue: boolean; onQueued(ahead: number | null): void }): Promise<RunOutcome> {
  const { crew, agent } = plan
  const taken: Taken = { leaves: false }
  let model: Model | null = null
  let stop: Stop
  try {
    if (queue && !takePlace(plan)) await waitForPlace(plan, onQueued)
    agent.clock.start()
    const opening: readonly EventBody[] = plan.opening === undefined ? [] : [{ type: 'message.sent', data: { text: plan.opening, from: 'user' } }]
    const { worktree } = agent.started.frozen
    const opened: readonly EventBody[] = worktree && !agent.restored ? [{ type: 'worktree.opened', data: worktree }] : []
    await crew.record(agent.subject, [{ type: 'delegation.started', data: agent.started }, ...opened, ...opening])
    onQueued(null)
    model = open(plan)
    agent.session = startSession(plan, model)
    const host = wrapped(plan, agent.session, model, taken)
    const job: Job = { brief: briefOf(agent, model.id === 'script' ? 'data' : 'text'), host, signal: agent.signal }
    await withinTimeLimit(plan, () => place(job))
    stop = agent.stopped ?? { ending: COMPLETED, reason: '' }
  } catch (error) {
    stop = agent.stopped ?? stopOf(error)
    // Whatever is still under way for it, a place in the queue included, is given up.
    crew.stop(agent, stop)
  }
  // From here on no stop changes what it came to, and it reads no more messages.
  agent.ending = true
  try {
    return await finished(plan, { stop, taken, model })
  } finally {
    agent.slot?.leave()
    crew.dismiss(agent)
    // Only now: the next one to write begins after the end of this one, in the journal too.
    agent.hold?.leave()
  }
}

/** Ends what is left of a run and journals what it came to, as journaled: without secrets, for whoever gets it (JRN-08). */
async function finished(plan: Plan, { stop, taken, model }: { readonly stop: Stop; readonly taken: Taken; readonly model: Model | null }): Promise<RunOutcome> {
  const { crew, agent } = plan
  const goOn = taken.leaves && stop.ending.status === 'completed' && agent.subject.depth === 0
  const stopped = goOn ? 0 : await endChildren(plan)
  await settled(plan)
  // Others may run while its model is closed and its changes are merged.
  agent.slot?.leave()
  const fault = await closeFault(model)
  const broughtBack = (await plan.bringBack?.(stop.ending.status === 'completed')) ?? null
  if (broughtBack) await crew.record(agent.subject, broughtBack.events)
  const progress = agent.session?.progress() ?? standing({ ...agent, cost: (by, usage) => plan.cost(by, usage) })
  const notes = [
    ...plan.notes,
    ...progress.notes,
    ...(plan.verification?.notes() ?? []),
    ...(stopped > 0 && stop.ending.status === 'completed' ? [`${stopped} sub-agents still running were stopped`] : []),
    ...(fault ? [fault] : []),
    ...(broughtBack?.notes ?? []),
  ]
  const result = resultOf({ ...agent, progress: plus(progress, agent.lost, (by, usage) => plan.cost(by, usage)), durationMs: agent.clock.elapsedMs(), unread: agent.mailbox.unread, broughtBack }, stop, {
    notes,
    ...(taken.value !== undefined && { value: taken.value }),
  })
  const { reads } = progress
  const ended: EventBody = { type: 'delegation.ended', data: { result, ...(reads !== null && plan.key !== undefined && { reads }) } }
  const [event] = await crew.record(agent.subject, [ended], plan.key)
  return { result: event?.type === 'delegation.ended' ? event.data.result : result, reads }
}

/** The host a loop talks to, from the inside out. */
function wrapped(plan: Plan, session: Session, model: Model, taken: Taken): Host {
  const { agent, output } = plan
  const { mailbox, restored } = agent
  const isProgram = model.id === 'script'
  let host = granted(session.host, (call) => plan.toolkit.decide(call))
  // A program reads no messages: it waits for its sub-agents itself, or not at all.
  if (!isProgram) {
    host = insistent(host, attends(agent, session, plan.delivery, () => { taken.leaves = true }))
    host = repeating(host, (tool) => {
      agent.repeating = true
      const before = restored?.told.some(({ from }) => from === 'repeating')
      if (!before) mailbox.owe(reminder({ text: `${tool} gave the same result 3 times. Try another way or report what blocks you.`, from: 'repeating' }))
    })
  }
  if (output) {
    const before = restored?.told.filter(({ from }) => from === 'schema').length ?? 0
    const take = (value: Json) => { taken.value = value }
    host = insistent(host, fitsSchema({ check: output.check, retries: isProgram ? 0 : output.retries, before, mailbox, take }))
  }
  const { verification } = plan
  if (verification) host = insistent(host, () => verification.isLast())
  if (!isProgram) {
    // The last word on it, in one step with what closes the mailbox: nobody is told of a message that it is read when it is not (STR-02).
    host = insistent(host, () => {
      agent.answered = mailbox.isEmpty || session.turnsLeft() === 0
      return agent.answered
    })
  }
  return cancellable(host, agent.signal)
}

/** KIN-15: whoever ended, its children end first, and are journaled before it. Returns how many there were. */
async function endChildren({ crew, agent }: Plan): Promise<number> {
  const children = [...agent.children]
  for (const child of children) crew.stop(child, PARENT_ENDED)
  await Promise.all(children.map(({ gone }) => gone))
  return children.length
}

/** ms. What a stop does not end by itself is not waited for longer. */
const LONGEST_SETTLING = 2_000

/** Resolves when nothing is under way for it any more: calls that ran on this side, and what its verification started. */
async function settled({ agent, verification, toolkit }: Plan): Promise<void> {
  // A call that waited for its children would wait for the place it lent them.
  if (agent.slot?.lent) agent.slot.leave()
  const limit = new AbortController()
  await Promise.race([agent.session?.settled(), pause(LONGEST_SETTLING, undefined, { signal: limit.signal }).catch(() => undefined)])
  limit.abort()
  await Promise.all([toolkit.close(), verification?.settled()])
}

/**
 * Whether its gate and a place were free, which it then has: at once, so that starts are journaled in the order they were asked for, those that wait
 * among them (AGT-11, JRN-05).
 */
function takePlace(plan: Plan): boolean {
  const { crew, agent, gate } = plan
  agent.signal.throwIfAborted()
  if (gate) {
    agent.hold = gate.now().take(gate.writer)
    if (agent.hold === null) return false
  }
  agent.slot = crew.slots.take(needOf(plan))
  return agent.slot !== null
}

/** The gate before the place: a place is held by none that waits for a gate, so whoever holds a gate gets a place in the end. */
async function waitForPlace(plan: Plan, onQueued: (ahead: number) => void): Promise<void> {
  const { crew, agent } = plan
  const { slots } = crew
  const gate = agent.hold === null ? (plan.gate?.now() ?? null) : null
  const writersAhead = gate ? gate.waiting + 1 : null
  const place = (async () => {
    if (gate && plan.gate) agent.hold = await gate.enter(plan.gate.writer, agent.signal)
    agent.slot = await slots.enter(agent.signal, needOf(plan))
  })()
  const ahead = writersAhead ?? Math.max(0, slots.queued - 1) // its turn may have come this very moment (KIN-08)
  const queued: EventBody = { type: 'delegation.queued', data: { ...agent.started, ahead } }
  await Promise.all([place, crew.record(agent.subject, [queued]).then(() => onQueued(ahead))])
}

/** The place a run needs. */
export const needOf = ({ agent: { started }, paced }: Pick<Plan, 'agent' | 'paced'>): Need =>
  ({ levels: levelsBelow(started.grant), background: started.background, paced })

function open(plan: Plan): Model {
  try {
    return plan.openModel()
  } catch (cause) {
    throw new Stopped({ ending: { status: 'failed', cause: 'setup' }, reason: messageOf(cause) })
  }
}

function startSession(plan: Plan, model: Model): Session {
  const { agent, crew } = plan
  const { started, restored, mailbox, subject } = agent
  const { effort, cacheTtl, autoCompactWindow } = started.frozen
  if (plan.opening !== undefined) mailbox.deliver({ text: plan.opening, from: 'user' })
  return openSession({
    agent: subject.agent,
    model,
    system: started.system,
    tools: plan.tools,
    messages: restored?.messages ?? plan.messages(),
    maxTurns: started.grant.limits.maxTurns,
    ...(effort !== undefined && { effort }),
    ...(cacheTtl && { cacheTtl }),
    mailbox,
    ...(restored && { restored }),
    signal: agent.signal,
    record: (events) => crew.record(subject, events),
    onDelta: (delta) => crew.show(subject, { type: 'delta', data: delta.kind === 'reset' ? { kind: 'reset', text: '' } : delta }),
    runCall: (call) => plan.toolkit.run(call),
    heard: (outcomes) => plan.toolkit.heard(outcomes),
    ...(plan.compaction && { compaction: { ...plan.compaction, ...(autoCompactWindow !== undefined && { autoCompactWindow }) } }),
    trailer: () => plan.trailer(),
    now: () => Date.now(),
    cost: (by, usage) => plan.cost(by, usage),
  })
}

/** KIN-12, by the run's own clock. DEL-10: its parent hears once when it is overdue. */
async function withinTimeLimit<T>(plan: Plan, work: () => Promise<T>): Promise<T> {
  const { agent, crew } = plan
  const { timeout } = agent.started.grant.limits
  const { expectedDuration } = agent.started
  const alarms = [
    agent.clock.at(timeout * 1000, () => crew.stop(agent, { ending: { status: 'partial', cause: 'timeout' }, reason: `It reached its time limit of ${timeout} s.` })),
    ...(expectedDuration === null ? [] : [agent.clock.at(expectedDuration * 1000, () => tellOverdue(plan, expectedDuration))]),
  ]
  try {
    return await work()
  } finally {
    for (const callOff of alarms) callOff()
  }
}

function tellOverdue({ agent, crew }: Plan, expected: number): void {
  const { agent: id, parent: above } = agent.subject
  const parent = above === null ? undefined : crew.find(above)
  if (!parent || parent.restored?.told.some(({ from, about }) => from === 'overdue' && about === id)) return
  const text = `${agent.started.title} (${id}) is overdue: expected ${expected} s, running ${secondsRunning(agent)} s, ${turnText(agent)}. It goes on; check or stop it if needed.`
  parent.mailbox.owe(reminder({ text, from: 'overdue' }, id))
}

async function closeFault(model: Model | null): Promise<string | null> {
  try {
    await model?.close?.()
    return null
  } catch (error) {
    return `its model could not be closed: ${messageOf(error)}`
  }
}
