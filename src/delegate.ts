import { randomInt } from 'node:crypto'
import type { ChosenModel, ModelChoice } from './choose-model.ts'
import type { AgentType, Program } from './core/agent-type.ts'
import type { Effort, Model, ToolCall, ToolOutcome, Usage } from './core/contract.ts'
import { CadreError, messageOf } from './core/errors.ts'
import type { EventSubject } from './core/events.ts'
import type { Grant } from './core/grant.ts'
import { levelsBelow, mayStart } from './core/grant.ts'
import type { JsonObject } from './core/json.ts'
import type { Narrowed, WantedByCall } from './core/narrow.ts'
import { narrow, noToolLeft } from './core/narrow.ts'
import { resultText } from './core/result-text.ts'
import type { ToolAnswer } from './core/tool.ts'
import { decide } from './permissions/decide.ts'
import { systemPrompt } from './prompt.ts'
import { runAgent } from './run.ts'
import type { Place, Plan, RunOutcome } from './run.ts'
import type { Agent, Crew } from './supervisor.ts'
import { parseDelegation } from './tools/agent.ts'
import type { DelegationInput } from './tools/agent.ts'
import { outputCheck } from './tools/output-schema.ts'
import type { Toolbox } from './tools/toolbox.ts'

/** What starting an agent needs of the rest of the system. */
export type Services = {
  readonly crew: Crew
  readonly toolbox: Toolbox
  readonly types: {
    /** The type a model or a person named (TYP-16); throws CadreError UNKNOWN_TYPE with the literal text. */
    require(written: string | undefined): AgentType
    /** Those a model may name. */
    startable(): readonly AgentType[]
    /** TYP-20. */
    segment(types: readonly AgentType[]): string
  }
  /** MOD-01…04: throws CadreError SETTINGS or UNKNOWN_PROVIDER. */
  chooseModel(choice: ModelChoice): ChosenModel
  openModel(model: ChosenModel): Model
  /** USD of one request to `used`, the model that answered, or by the price of the model that was asked. */
  cost(used: string, asked: string, usage: Usage): number
  /** A program as a model (PRG-01). */
  scriptModel(type: AgentType, program: Program, options: { readonly tools: readonly string[]; readonly seed: number; readonly prompt: string }): Model
  blame(path: string, lines: readonly number[], signal: AbortSignal): Promise<ToolAnswer>
  readonly inThread: Place
  /** As they are now (SET-02). */
  limits(): { readonly maxQueued: number; readonly resultChars: number; readonly schemaRetries: number; readonly cacheTtl: '5m' | '1h' }
}

/** An agent to start, whoever asked for it: a parent model's call, a sweep's item, or the user. */
export type Start = {
  readonly subject: EventSubject
  readonly type: AgentType | null
  readonly narrowed: Pick<Narrowed, 'grant' | 'removed' | 'unknown' | 'notes'>
  readonly title: string
  readonly prompt: string
  /** Null: the type is a program. */
  readonly model: ChosenModel | null
  readonly input?: Pick<DelegationInput, 'effort' | 'outputSchema' | 'notes'>
  readonly callId: string | null
  /** The parent turn's, for a child that says nothing about it (MOD-02). */
  readonly inheritedEffort?: Effort | null
  readonly key?: string
}

/** Decides everything about a run and puts its agent in the crew, as the last step. Nothing is journaled yet. Throws USAGE for a schema that is none. */
export function planAgent(services: Services, start: Start): Plan {
  const { crew, toolbox } = services
  const { type, narrowed, model, input } = start
  const { grant } = narrowed
  const limits = services.limits()
  const seed = randomInt(2 ** 32)
  const schema = input?.outputSchema ?? type?.outputSchema
  const effort = input?.effort ?? type?.effort ?? start.inheritedEffort ?? null
  const plan: Omit<Plan, 'agent' | 'runCall'> = {
    crew,
    typeHash: type?.hash ?? '',
    removed: narrowed.removed,
    openModel: () => (model ? services.openModel(model) : scriptOf(services, type, { grant, seed, prompt: start.prompt })),
    modelName: model?.id ?? 'script',
    cost: (used, usage) => (model ? services.cost(used, model.id, usage) : 0),
    ...(effort !== null && { effort }),
    cacheTtl: type?.cacheTtl ?? limits.cacheTtl,
    system: model ? systemOf(services, start) : '',
    prompt: start.prompt,
    tools: model ? toolbox.schemas(grant) : [],
    ...(schema && { output: { check: outputCheck(schema), retries: limits.schemaRetries } }),
    seed,
    callId: start.callId,
    frozen: {
      ...(effort !== null && { effort }),
      cacheTtl: type?.cacheTtl ?? limits.cacheTtl,
      ...(schema && { outputSchema: schema }),
      ...(type?.program && start.key === undefined && { program: type.program }),
    },
    notes: [...(input?.notes ?? []), ...(model?.notes ?? []), ...narrowed.notes, ...unknownNotes(narrowed)],
    ...(start.key !== undefined && { key: start.key }),
    decide: (call) => decide(call, grant, toolbox.find(call.name) !== undefined, toolbox.check(call)),
  }
  const agent = crew.enlist({ subject: start.subject, title: start.title, type, grant, model: model?.id ?? null, effort })
  return { ...plan, agent, runCall: (call) => runCall(services, agent, call) }
}

const systemOf = ({ types }: Services, { type, subject, narrowed: { grant } }: Start): string =>
  systemPrompt({ type, isRoot: subject.depth === 0, grant, startable: types.startable(), segment: (of) => types.segment(of) })

/** Starts a sub-agent for a sweep's item or any caller in code and waits for its end. */
export const startAgent = (services: Services, start: Start): Promise<RunOutcome> =>
  runAgent(planAgent(services, start), services.inThread, { queue: true })

/**
 * One delegation, top to bottom: what the `agent` tool does (AGT-01…11). Checks in the order of AGT-03; a refusal rejects with CadreError
 * REFUSED and leaves nothing but its journal entry. Any final status is an answer (AGT-06).
 */
export async function delegate(services: Services, parent: Agent, raw: JsonObject, callId: string): Promise<ToolAnswer> {
  const { crew } = services
  // It is blocked from here on: its place is another's, and may be its own child's.
  parent.slot?.lend()
  try {
    const { result, reads } = await admitted(services, parent, raw, callId)
    return { text: resultText(result, services.limits().resultChars), ...(reads && { reads }) }
  } catch (error) {
    if (!(error instanceof CadreError && error.code === 'REFUSED')) throw error
    await crew.record(parent.subject, [{ type: 'delegation.refused', data: { reason: error.message, input: raw } }])
    throw error
  } finally {
    await parent.slot?.reclaim()
  }
}

/** Checks and starts in one go: between the last check and the place in the queue nothing else is admitted. Throws REFUSED before anything exists. */
function admitted(services: Services, parent: Agent, raw: JsonObject, callId: string): Promise<RunOutcome> {
  try {
    return startAgent(services, { ...admit(services, parent, raw, callId), subject: services.crew.newSubject(parent.subject) })
  } catch (error) {
    throw new CadreError('REFUSED', messageOf(error), { cause: error })
  }
}

/** Every check of AGT-03, in its order: input, type, model, grant, depth, queue. Throws for the first that fails. */
function admit(services: Services, parent: Agent, raw: JsonObject, callId: string): Omit<Start, 'subject'> {
  const parsed = parseDelegation(raw)
  if ('error' in parsed) throw new CadreError('REFUSED', parsed.error)
  const input = parsed.value
  const type = typeFor(services, parent, input)
  const model = type.program ? null : services.chooseModel({ call: input.model ?? null, type: type.model, parent: parent.model })
  const wanted: WantedByCall = {
    ...(input.readOnly !== undefined && { readOnly: input.readOnly }),
    ...(input.tools && { tools: input.tools }),
    ...(input.maxTurns !== undefined && { maxTurns: input.maxTurns }),
    ...(input.timeout !== undefined && { timeout: input.timeout }),
  }
  const narrowed = narrow(parent.grant, type, wanted)
  if (narrowed.grant.tools.length === 0) throw new CadreError('REFUSED', noToolLeft(type, parent.grant, wanted))
  const { slots } = services.crew
  if (slots.isFull(levelsBelow(narrowed.grant)) && slots.queued >= services.limits().maxQueued) {
    throw new CadreError('REFUSED', `The queue is full (${slots.running} running, ${slots.queued} queued). Wait for some with agent_wait, then try again.`)
  }
  return { type, narrowed, title: input.title, prompt: input.prompt, model, input, callId, inheritedEffort: parent.effort }
}

function typeFor(services: Services, parent: Agent, input: DelegationInput): AgentType {
  const startable = services.types.startable().filter(({ name }) => mayStart(parent.grant, name))
  const type = services.types.require(input.type)
  if (startable.some(({ name }) => name === type.name)) return type
  throw new CadreError('UNKNOWN_TYPE', `Unknown sub-agent type "${input.type ?? type.name}". Available: ${startable.map(({ name }) => name).join(', ')}.`)
}

/** Runs one granted call on the main side. A tool's own failure is an outcome (TOO-01). */
async function runCall(services: Services, agent: Agent, call: ToolCall): Promise<ToolOutcome> {
  const tool = services.toolbox.find(call.name)
  try {
    if (!tool?.run) throw new CadreError('INVARIANT', `${call.name} does not run on the main side`)
    const answer = await tool.run(call.input as JsonObject, {
      root: agent.grant.root,
      signal: agent.signal,
      callId: call.id,
      delegate: (input, callId) => delegate(services, agent, input, callId),
      blame: (path, lines) => services.blame(path, lines, agent.signal),
    })
    // A call that reads no files itself rests on none; a sub-agent's reads come with its answer when they are known.
    const reads = tool.effect === 'delegate' ? answer.reads : (answer.reads ?? [])
    return { callId: call.id, tool: call.name, ok: true, text: answer.text, ...(reads && { reads }) }
  } catch (error) {
    return { callId: call.id, tool: call.name, ok: false, text: `Error: ${messageOf(error)}` }
  }
}

function scriptOf(services: Services, type: AgentType | null, { grant, seed, prompt }: { readonly grant: Grant; readonly seed: number; readonly prompt: string }): Model {
  if (!type?.program) throw new CadreError('INVARIANT', 'A run without a model needs a type with a program')
  return services.scriptModel(type, type.program, { tools: grant.tools.map(({ name }) => name), seed, prompt })
}

const unknownNotes = ({ unknown }: Pick<Narrowed, 'unknown'>): readonly string[] =>
  unknown.map(({ written, nearest }) => `unknown tool ${written} was left out${nearest ? `, did you mean ${nearest}?` : ''}`)
