import { randomInt } from 'node:crypto'
import type { ChosenModel } from './choose-model.ts'
import { companionsOf, notStartedBy } from './companions.ts'
import type { AgentType, Program } from './core/agent-type.ts'
import type { Effort, Message, Model, ToolCall, ToolOutcome, Verdict } from './core/contract.ts'
import { CadreError, messageOf } from './core/errors.ts'
import type { DelegationStarted, EventSubject, FrozenType, Origin } from './core/events.ts'
import type { Grant } from './core/grant.ts'
import { levelsBelow, mayName } from './core/grant.ts'
import type { JsonObject } from './core/json.ts'
import { anchorsOf } from './core/anchors.ts'
import type { Narrowed, WantedByCall } from './core/narrow.ts'
import { narrow, noToolLeft, renarrow } from './core/narrow.ts'
import type { Restored } from './core/restored.ts'
import type { RunOutcome } from './core/result.ts'
import { resultText } from './core/result-text.ts'
import { STOPPED_BY_PARENT } from './core/status.ts'
import type { ToolAnswer } from './core/tool.ts'
import { offer } from './offer.ts'
import type { Offer } from './offer.ts'
import { decide } from './permissions/decide.ts'
import { NO_DELEGATION, systemPrompt } from './prompt.ts'
import { firstMessage } from './prompts/environment.ts'
import { chosenHistory } from './prompts/history.ts'
import { beginAgent } from './run.ts'
import type { Begun, Plan } from './run.ts'
import type { Services } from './services.ts'
import { blocked } from './supervisor.ts'
import type { Agent } from './supervisor.ts'
import { parseDelegation } from './tools/agent.ts'
import type { DelegationInput } from './tools/agent.ts'
import { outputCheck } from './tools/output-schema.ts'

/** An agent to start, whoever asked for it: a parent model's call, a sweep's item, or the user. */
export type Start = {
  readonly subject: EventSubject
  readonly type: AgentType | null
  readonly narrowed: Pick<Narrowed, 'grant' | 'removed' | 'unknown' | 'notes'>
  readonly title: string
  readonly prompt: string
  /** What a language model reads before it (PRO-01). */
  readonly environment?: string
  /** Null: the type is a program. */
  readonly model: ChosenModel | null
  readonly input?: Pick<DelegationInput, 'effort' | 'outputSchema' | 'notes' | 'expectedDuration'>
  readonly callId: string | null
  /** The parent turn's, for a child that says nothing about it (MOD-02). */
  readonly inheritedEffort?: Effort | null
  readonly background?: boolean
  /** KIN-02: it begins with this agent's conversation, prompt prefix and tools. */
  readonly forks?: Agent | null
  /** PRO-06. */
  readonly history?: readonly Message[]
  /** Whether a model asked for it (KIN-08). */
  readonly paced?: boolean
  readonly key?: string
  /** VER-06. */
  readonly verifies?: DelegationStarted['verifies']
}

/** A run with all that is journaled of it decided: a new one, or one that goes on. */
export type Ready = {
  readonly subject: EventSubject
  readonly started: DelegationStarted
  readonly restored?: Restored
  readonly notes: readonly string[]
  readonly paced?: boolean
  /** Where `started` does not hold it: in a sweep. */
  readonly program?: Program
  readonly key?: string
}

/** Decides everything about a new run. Nothing is journaled yet. Throws USAGE for a schema that is none. */
export function readyAgent(services: Services, start: Start): Ready {
  const { type, narrowed, model, input, forks } = start
  const { grant } = narrowed
  const schema = input?.outputSchema ?? type?.outputSchema
  const effort = (forks ? null : (input?.effort ?? type?.effort)) ?? start.inheritedEffort ?? null
  const frozen: FrozenType = {
    ...(effort !== null && { effort }),
    cacheTtl: (forks ? forks.started.frozen : type)?.cacheTtl ?? services.limits().cacheTtl,
    ...(schema && { outputSchema: schema }),
    ...(type?.program && start.key === undefined && { program: type.program }),
    ...(type?.autoCompactWindow !== undefined && { autoCompactWindow: type.autoCompactWindow }),
    ...(forks && { shown: offerTo(services, forks.started).schemas.map(({ name }) => name) }),
  }
  const started: DelegationStarted = {
    title: start.title,
    agentType: grant.type,
    typeHash: type?.hash ?? '',
    typePath: type?.path ?? null,
    model: model?.id ?? 'script',
    system: forks ? forks.started.system : model ? systemOf(services, start) : '',
    prompt: model && start.environment !== undefined ? firstMessage({ environment: start.environment, prompt: start.prompt }) : start.prompt,
    grant,
    removed: narrowed.removed,
    cwd: grant.root,
    frozen,
    origin: originOf(start),
    expectedDuration: input?.expectedDuration ?? type?.expectedDuration ?? null,
    background: start.background ?? false,
    seed: randomInt(2 ** 32),
    callId: start.callId,
    ...(start.verifies && { verifies: start.verifies }),
  }
  return {
    subject: start.subject,
    started,
    notes: [...(input?.notes ?? []), ...(model?.notes ?? []), ...narrowed.notes, ...unknownNotes(narrowed)],
    paced: start.paced ?? false,
    ...(type?.program && { program: type.program }),
    ...(start.key !== undefined && { key: start.key }),
  }
}

function originOf({ forks, history }: Start): Origin | null {
  if (forks) return { kind: 'fork', agent: forks.subject.agent, turn: turnOf(forks) }
  return history && history.length > 0 ? { kind: 'messages', messages: history } : null
}

/** The turn an agent is in, over all its runs. */
export const turnOf = ({ session, restored }: Agent): number => (session?.progress().turns ?? 0) + (restored?.turnsBefore ?? 0)

/** Puts a run's agent into the crew, as the last step before it begins. */
export function planAgent(services: Services, ready: Ready): Plan {
  const { crew, toolbox, journal } = services
  const { subject, started } = ready
  const { grant, frozen } = started
  const isProgram = started.model === 'script'
  const schema = frozen.outputSchema
  const offered = offerTo(services, started)
  const output = schema ? { check: outputCheck(schema), retries: services.limits().schemaRetries } : null
  const delegates = grant.tools.some(({ effect }) => effect === 'delegate')
  const agent = crew.enlist({ subject, started, model: isProgram ? null : started.model, restored: ready.restored ?? null })
  return {
    crew,
    agent,
    openModel: () => (isProgram ? scriptOf(services, ready) : services.openModel(started.model)),
    cost: (used, usage) => (isProgram ? 0 : services.cost(used, started.model, usage)),
    messages: () => (started.origin === null ? [{ role: 'user', text: started.prompt }] : journal.transcript(subject.agent)),
    tools: isProgram ? [] : offered.schemas,
    compaction: isProgram ? null
      : { window: services.contextWindow(started.model), compactAt: services.limits().compactAt, isOverflow: (error) => services.isContextOverflow(error) },
    ...(output && { output }),
    notes: ready.notes,
    paced: ready.paced ?? false,
    ...(ready.key !== undefined && { key: ready.key }),
    delivery: services.delivery(subject.depth),
    trailer: () => (delegates && !isProgram ? anchorsOf(journal.children(subject.agent)).join('\n') || null : null),
    decide: (call) => offered.decide(call, (known) => {
      const verdict = decide(known, grant, toolbox.find(known.name) !== undefined, toolbox.check(known))
      return grant.depth === 0 && verdict.kind === 'refused' ? beyondLimit(services, known, verdict) : verdict
    }),
    runCall: (call) => runCall(services, agent, call),
  }
}

/** KIN-06: a delegation that was forced at the depth limit is refused, and journaled, where every delegation is (AGT-03). */
function beyondLimit({ toolbox }: Services, call: ToolCall, refused: Verdict): Verdict {
  const checked = toolbox.check(call)
  if ('error' in checked || checked.tool.name !== 'agent') return refused
  return { kind: 'run', call: { id: call.id, name: 'agent', input: checked.input, local: false } }
}

const offerTo = ({ toolbox, types, delegationTools }: Services, started: DelegationStarted): Offer =>
  offer(started, { toolbox, tools: delegationTools(), startable: types.startable() })

const systemOf = ({ types, project }: Services, { type, subject, narrowed: { grant } }: Start): string =>
  systemPrompt({ type, isRoot: subject.depth === 0, grant, startable: types.startable(), segment: (of) => types.segment(of), project })

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
  const environment = await services.environment.whole()
  // Stopped meanwhile: its children have been ended, and this one would outlive it (KIN-15).
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

/** What comes with a delegation besides its input. */
type Asked = { readonly callId: string; readonly environment: string }

/**
 * Checks and starts in one go, so that nothing else is admitted between the last check and the place in the queue. Rejects with REFUSED, which is
 * journaled, and leaves nothing else.
 */
async function started(services: Services, parent: Agent, raw: JsonObject, asked: Asked): Promise<Begun> {
  try {
    return startAgent(services, admitted(services, parent, raw, asked))
  } catch (error) {
    const reason = messageOf(error)
    await services.crew.record(parent.subject, [{ type: 'delegation.refused', data: { reason, input: raw } }])
    throw new CadreError('REFUSED', reason, { cause: error })
  }
}

/** Every check of AGT-03, in its order: input, type, model, grant, depth, queue. Throws for the first that fails. */
function admitted(services: Services, parent: Agent, raw: JsonObject, asked: Asked): Ready {
  const parsed = parseDelegation(raw)
  if ('error' in parsed) throw new CadreError('REFUSED', parsed.error)
  const input = parsed.value
  if (input.outputSchema) outputCheck(input.outputSchema)
  const ready = input.continues === undefined ? admit(services, parent, input, asked) : admitContinued(services, parent, { input, id: input.continues, callId: asked.callId })
  if (parent.started.grant.depth === 0) throw new CadreError('REFUSED', NO_DELEGATION)
  const { slots } = services.crew
  const { grant, background } = ready.started
  if (slots.isFull({ levels: levelsBelow(grant), background }) && slots.queued >= services.limits().maxQueued) {
    throw new CadreError('REFUSED', `The queue is full (${slots.running} running, ${slots.queued} queued). Wait for some with agent_wait, then try again.`)
  }
  return ready
}

function admit(services: Services, parent: Agent, input: DelegationInput, { callId, environment }: Asked): Ready {
  const type = typeFor(services, parent, input)
  const fork = input.fork || (input.type !== undefined && services.types.isFork(input.type))
  const forks = fork ? forkedFrom(parent, type) : null
  const own = forks ? ignoredByForks(input) : { input, notes: [] }
  const model = type.program ? null : forks?.model ? { id: forks.model, notes: [] }
    : services.chooseModel({ call: own.input.model ?? null, type: type.model, parent: parent.model })
  const wanted = wantedBy(input)
  const narrowed = narrow(parent.started.grant, type, wanted)
  if (narrowed.grant.tools.length === 0) throw new CadreError('REFUSED', noToolLeft(type, parent.started.grant, wanted))
  const background = inBackground(services, parent, type.background === true || input.background === true)
  return readyAgent(services, {
    subject: services.crew.newSubject(parent.subject),
    type,
    narrowed,
    title: input.title ?? type.name,
    prompt: forks ? forkPrompt(input.prompt, narrowed.grant) : input.prompt,
    ...(!forks && { environment }),
    model,
    input: { ...own.input, notes: [...input.notes, ...own.notes, ...background.notes] },
    callId,
    inheritedEffort: parent.started.frozen.effort ?? null,
    background: background.value,
    forks,
    ...(!forks && !type.program && { history: chosenHistory(parent.session?.messages() ?? [], services.history) }),
    paced: parent.model !== null,
  })
}

const wantedBy = (input: DelegationInput): WantedByCall => ({
  ...(input.readOnly !== undefined && { readOnly: input.readOnly }),
  ...(input.tools && { tools: input.tools }),
  ...(input.maxTurns !== undefined && { maxTurns: input.maxTurns }),
  ...(input.timeout !== undefined && { timeout: input.timeout }),
})

/** KIN-01, DEL-08: where no result could come on its own, a background call waits for it. */
function inBackground(services: Services, parent: Agent, wanted: boolean): { readonly value: boolean; readonly notes: readonly string[] } {
  if (!wanted) return { value: false, notes: [] }
  if (!services.notifies()) return { value: false, notes: ['notifications are off, so this ran in the foreground.'] }
  if (parent.model === null) return { value: false, notes: ['a program reads no notifications, so this ran in the foreground.'] }
  return { value: true, notes: [] }
}

/** KIN-02. */
function forkedFrom(parent: Agent, type: AgentType): Agent {
  if (parent.model === null) throw new CadreError('REFUSED', 'forkContext needs a conversation, and a program has none. Drop it.')
  if (type.program) throw new CadreError('REFUSED', `forkContext needs a language model, and ${type.name} runs a program. Drop it, or choose another type.`)
  return parent
}

function ignoredByForks({ model, effort, ...input }: DelegationInput): { readonly input: DelegationInput; readonly notes: readonly string[] } {
  const given = [...(model === undefined ? [] : ['model']), ...(effort === undefined ? [] : ['effort'])]
  return { input, notes: given.map((field) => `${field} was ignored: a fork keeps its parent's`) }
}

/** What a fork is told besides: it reads its parent's system prompt and sees its parent's tools. */
const forkPrompt = (prompt: string, { tools, depth }: Grant): string => [
  'From here on you are a sub-agent, forked from the conversation above. Your last message is your whole result: complete and short. Nobody answers questions: if blocked, say what you need and stop.',
  `You may use: ${tools.map(({ name }) => name).join(', ')}.${depth === 0 ? ` ${NO_DELEGATION}` : ''}`,
  '',
  prompt,
].join('\n')

/** STR-08…10: a new agent whose history is that of an ended one. */
function admitContinued(services: Services, parent: Agent, { input, id, callId }: { readonly input: DelegationInput; readonly id: string; readonly callId: string }): Ready {
  const { crew, journal } = services
  const above = parent.subject.agent
  const row = journal.children(above).find((child) => child.id === id)
  const before = journal.started(id)
  if (!row || !before) throw notStartedBy(id, journal.children(above).map((child) => child.id))
  const refuse = (why: string) => new CadreError('REFUSED', `${id} cannot be continued: ${why}.`)
  const result = journal.result(id)
  if (crew.find(id) || !result) throw refuse('it is still running (use agent_send)')
  if (result.error === STOPPED_BY_PARENT.reason) throw refuse('you stopped it (start a new one)')
  if (before.model === 'script') throw refuse('it ran a program (start a new one)')
  if (before.verifies) throw refuse('it is the verifier, which only Cadre starts')
  const grant = renarrow(before.grant, parent.started.grant, wantedBy(input))
  if (grant.tools.length === 0) throw new CadreError('REFUSED', noToolLeft({ name: before.agentType, tools: before.grant.tools.map(({ name }) => name) }, parent.started.grant, wantedBy(input)))
  const background = inBackground(services, parent, input.background ?? before.background)
  const schema = input.outputSchema ?? before.frozen.outputSchema
  return {
    subject: crew.newSubject(parent.subject),
    started: {
      ...before,
      title: input.title ?? before.title,
      prompt: input.prompt,
      grant,
      frozen: { ...before.frozen, ...(schema && { outputSchema: schema }) },
      origin: { kind: 'continue', agent: id },
      expectedDuration: input.expectedDuration ?? null,
      background: background.value,
      callId,
    },
    notes: [`it keeps version ${before.typeHash.slice(0, 12)} of ${before.agentType}`, ...input.notes, ...background.notes],
    paced: true,
  }
}

function typeFor(services: Services, parent: Agent, input: DelegationInput): AgentType {
  const startable = services.types.startable().filter(({ name }) => mayName(parent.started.grant, name))
  const type = services.types.require(input.type)
  if (startable.some(({ name }) => name === type.name)) return type
  throw new CadreError('UNKNOWN_TYPE', `Unknown sub-agent type "${input.type ?? type.name}". Available: ${startable.map(({ name }) => name).join(', ')}.`)
}

/** Runs one granted call on the main side. A tool's own failure is an outcome (TOO-01). */
async function runCall(services: Services, agent: Agent, call: ToolCall): Promise<ToolOutcome> {
  const tool = services.toolbox.find(call.name)
  try {
    if (!tool?.run) throw new CadreError('INVARIANT', `${call.name} does not run on the main side`)
    if (isInDoubt(agent, call) && !tool.repeatable) throw new Error('Outcome unknown: the process ended during this call. Check the state before you repeat it.')
    const answer = await tool.run(call.input as JsonObject, {
      root: agent.started.grant.root,
      signal: agent.signal,
      callId: call.id,
      delegate: (input, callId) => delegate(services, agent, input, callId),
      companions: companionsOf(services, agent),
      blame: (path, lines) => services.blame(path, lines, agent.signal),
    })
    // A call that reads no files itself rests on none; a sub-agent's reads come with its answer when they are known.
    const reads = tool.effect === 'delegate' ? answer.reads : (answer.reads ?? [])
    return { callId: call.id, tool: call.name, ok: true, text: answer.text, ...(reads && { reads }), ...(answer.hands && { hands: answer.hands }) }
  } catch (error) {
    return { callId: call.id, tool: call.name, ok: false, text: `Error: ${messageOf(error)}` }
  }
}

/** JRN-04: handed out before the process ended, and nobody knows what became of it. */
const isInDoubt = ({ restored }: Agent, { id }: ToolCall): boolean => restored?.reply?.calls.some((call) => call.id === id) === true

function scriptOf(services: Services, { started, program: given }: Ready): Model {
  const program = started.frozen.program ?? given
  if (!program) throw new CadreError('INVARIANT', 'A run without a model needs a program')
  const { grant, seed, prompt } = started
  return services.scriptModel({ name: started.agentType, path: started.typePath }, program, { tools: grant.tools.map(({ name }) => name), seed, prompt })
}

const unknownNotes = ({ unknown }: Pick<Narrowed, 'unknown'>): readonly string[] =>
  unknown.map(({ written, nearest }) => `unknown tool ${written} was left out${nearest ? `, did you mean ${nearest}?` : ''}`)
