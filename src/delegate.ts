import { admitted } from './admission.ts'
import type { Asked } from './admission.ts'
import { anchorsOf, anchorText } from './core/anchors.ts'
import type { Message, Model, ToolCall, Verdict } from './core/contract.ts'
import { CadreError, messageOf } from './core/errors.ts'
import type { FrozenType } from './core/events.ts'
import { isReadOnly } from './core/grant.ts'
import type { JsonObject } from './core/json.ts'
import { orAborted } from './core/or-aborted.ts'
import { resultText } from './core/result-text.ts'
import type { RunOutcome } from './core/result.ts'
import type { ToolAnswer } from './core/tool.ts'
import type { BroughtBack } from './isolation.ts'
import { decide } from './permissions/decide.ts'
import { offerTo } from './ready.ts'
import type { Ready } from './ready.ts'
import { beginAgent } from './run.ts'
import type { Begun, Plan } from './run.ts'
import type { Writer } from './schedule/gate.ts'
import type { Services } from './services.ts'
import { blocked } from './supervisor.ts'
import type { Agent, Crew } from './supervisor.ts'
import { openToolkit } from './toolkit.ts'
import { outputCheck } from './tools/output-schema.ts'
import { RUN_CODE } from './tools/run-code.ts'
import type { Worktree } from '../worktrees/worktree.ts'

/** Puts a run's agent into the crew, as the last step before it begins. */
export function planAgent(services: Services, ready: Ready): Plan {
  const { crew, toolbox, journal } = services
  const { subject, started } = ready
  const { grant, frozen } = started
  const { worktree } = frozen
  const isProgram = started.model === 'script'
  const schema = frozen.outputSchema
  const offered = offerTo(services, started)
  const output = schema ? { check: outputCheck(schema), retries: services.limits().schemaRetries } : null
  const delegates = grant.tools.some(({ effect }) => effect === 'delegate')
  const compaction = { window: services.contextWindow(started.model), compactAt: services.limits().compactAt, isOverflow: (error: unknown) => services.isContextOverflow(error) }
  const delivery = services.delivery(subject.depth)
  const messages = (): readonly Message[] => (started.origin === null ? [{ role: 'user', text: started.prompt }] : journal.transcript(subject.agent))
  const agent = crew.enlist({ subject, started, model: isProgram ? null : started.model, restored: ready.restored ?? null })
  const toolkit = openToolkit(services, agent, {
    granted: (call) => offered.decide(call, (known) => {
      const verdict = decide(known, grant, toolbox.find(known.name) !== undefined, toolbox.check(known))
      return grant.depth === 0 && verdict.kind === 'refused' ? beyondLimit(services, known, verdict) : verdict
    }),
    tools: offered.schemas.map(({ name }) => name),
    delegate: (input, callId) => delegate(services, agent, input, callId),
    history: () => ready.restored?.messages ?? messages(),
  })
  return {
    crew,
    agent,
    gate: subject.depth === 0 || isReadOnly(grant) ? null : { now: () => services.gate(grant.root), writer: writerOf(crew, agent) },
    openModel: () => (isProgram ? scriptOf(services, ready) : services.openModel(started.model)),
    cost: (used, usage) => (isProgram ? 0 : services.cost(used, started.model, usage)),
    messages,
    tools: isProgram ? [] : offered.schemas,
    compaction: isProgram ? null : compaction,
    ...(output && { output }),
    notes: ready.notes,
    paced: ready.paced ?? false,
    ...(ready.key !== undefined && { key: ready.key }),
    delivery,
    trailer: () => (delegates && !isProgram ? anchorText(anchorsOf(journal.children(subject.agent))) : null),
    toolkit,
    ...(worktree && { bringBack: (success: boolean) => broughtBack(services, agent, worktree, success) }),
  }
}

/** Its own worktree as git has it now: what is left to be done with it is written there. */
async function broughtBack({ isolation, crew }: Services, agent: Agent, worktree: NonNullable<FrozenType['worktree']>, success: boolean): Promise<BroughtBack> {
  const found = await isolation.reopen(worktree.path)
  if ('none' in found) return { worktree: null, merge: null, notes: [found.note], events: [] }
  return isolation.bringBack(found, { ...writerOf(crew, agent), success, signal: new AbortController().signal })
}

const writerOf = (crew: Crew, agent: Agent): Writer =>
  ({ agent: agent.subject.agent, title: agent.started.title, ancestors: crew.above(agent).map(({ subject }) => subject.agent) })

/** KIN-06: a delegation that was forced at the depth limit is refused, and journaled, where every delegation is (AGT-03). */
function beyondLimit({ toolbox }: Services, call: ToolCall, refused: Verdict): Verdict {
  const checked = toolbox.check(call)
  if ('error' in checked || checked.tool.name !== 'agent') return refused
  return { kind: 'run', call: { id: call.id, name: 'agent', input: checked.input, local: false } }
}

/** Starts a sub-agent for a sweep's item or any caller in code, or one that goes on. */
export const startAgent = (services: Services, ready: Ready): Begun =>
  beginAgent(planAgent(services, ready), services.inThread, { queue: true })

/**
 * One delegation, top to bottom: what the `agent` tool does (AGT-01…11). Checks in the order of AGT-03; a refusal rejects with CadreError
 * REFUSED and leaves nothing but its journal entry. Any final status is an answer (AGT-06).
 */
export async function delegate(services: Services, parent: Agent, raw: JsonObject, callId: string): Promise<ToolAnswer> {
  const before = parent.restored ? begunBefore(services, parent, callId) : null
  if (before) return before
  // All calls of one reply wait for the one answer, also those that do not need it: so they start in their order (AGT-11).
  // None begins once its parent is stopped: its children have been ended then, and this one would outlive it (KIN-15).
  const environment = await orAborted(parent.signal, () => services.environment.whole())
  parent.signal.throwIfAborted()
  const begun = await started(services, parent, raw, { callId, environment })
  const { agent } = begun
  if (!agent.started.background) return blocked(parent, async () => answerOf(services, await begun.ended))
  return { text: backgroundText(agent.subject.agent, agent.started.title, await begun.queued), reads: [] }
}

const answerOf = (services: Services, { result, reads }: RunOutcome): ToolAnswer =>
  ({ text: resultText(result, services.limits().resultChars), ...(reads && { reads }) })

/** JRN-04: a call of before an interruption belongs to the agent it started then. Null: it started none. */
function begunBefore(services: Services, parent: Agent, callId: string): Promise<ToolAnswer> | null {
  const { crew, journal } = services
  const child = journal.children(parent.subject.agent).find((row) => row.callId === callId)
  if (!child) return null
  if (child.background) return Promise.resolve({ text: backgroundText(child.id, child.title, null), reads: [] })
  return blocked(parent, async () => {
    await crew.find(child.id)?.run
    const result = journal.result(child.id)
    if (!result) throw new CadreError('INVARIANT', `The result of ${child.id} is not in the journal`)
    return answerOf(services, { result, reads: null })
  })
}

/** AGT-07. */
const backgroundText = (id: string, title: string, ahead: number | null): string =>
  `${ahead === null ? 'Started' : 'Queued'} in the background as ${id} (${title}).${ahead === null ? '' : ` ${ahead} ahead.`} Its result arrives as a task notification: do not poll. Steer it with agent_send, end it with agent_stop.`

/**
 * Checks and starts in one go, so that nothing else is admitted between the last check and the place in the queue. Rejects with REFUSED, which is
 * journaled, and leaves nothing else.
 */
async function started(services: Services, parent: Agent, raw: JsonObject, asked: Asked): Promise<Begun> {
  let opened: Worktree | null = null
  try {
    const ready = admitted(services, parent, raw, asked)
    if (!ready.isolates) return startAgent(services, ready)
    const worktree = await services.isolation.open({ name: ready.started.title, from: parent.started.grant.root, signal: parent.signal })
    if ('path' in worktree) opened = worktree
    const environment = opened ? await services.environment.whole(opened) : asked.environment
    parent.signal.throwIfAborted()
    // Once more, now that it is there: nothing is admitted between this and its place in the queue.
    return startAgent(services, admitted(services, parent, raw, { ...asked, environment, worktree }))
  } catch (error) {
    if (opened) await services.isolation.bringBack(opened, { ...writerOf(services.crew, parent), success: false, signal: parent.signal })
    // What is wrong with Cadre itself is no refusal.
    if (!(error instanceof CadreError) || error.code === 'INVARIANT') throw error
    const reason = messageOf(error)
    await services.crew.record(parent.subject, [{ type: 'delegation.refused', data: { reason, input: raw } }])
    throw new CadreError('REFUSED', reason, { cause: error })
  }
}

function scriptOf(services: Services, { started, program: given }: Ready): Model {
  const program = started.frozen.program ?? given
  if (!program) throw new CadreError('INVARIANT', 'A run without a model needs a program')
  const { grant, seed, prompt } = started
  return services.scriptModel({ name: started.agentType, path: started.typePath }, program, { tools: grant.tools.map(({ name }) => name).filter((name) => name !== RUN_CODE), seed, prompt })
}
