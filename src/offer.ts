import type { AgentType } from './core/agent-type.ts'
import type { ToolCall, ToolOutcome, ToolSchema, Verdict } from './core/contract.ts'
import type { DelegationStarted } from './core/events.ts'
import { mayStart } from './core/grant.ts'
import { isObject } from './core/json.ts'
import { titleOf } from './core/title.ts'
import type { Toolbox } from './tools/toolbox.ts'

/** How delegation is offered to a model (AGT-13): one tool `agent`, one tool for each type, or both. */
export type DelegationTools = 'agent' | 'each' | 'both'

/** The tools an agent's model is shown, and its calls as the rest of the system knows them. */
export type Offer = {
  readonly schemas: readonly ToolSchema[]
  /** Lets `decide` see a call of a type's own tool as the call of `agent` it is. */
  decide(call: ToolCall, decide: (call: ToolCall) => Verdict): Verdict
}

/** A fork is shown what its parent is shown, whatever it may use of it (KIN-02). */
export function offer({ grant, frozen }: Pick<DelegationStarted, 'grant' | 'frozen'>, { toolbox, tools, startable }: {
  readonly toolbox: Toolbox
  readonly tools: DelegationTools
  readonly startable: readonly AgentType[]
}): Offer {
  const { shown } = frozen
  const all = toolbox.schemas(shown ?? grant.tools.map(({ name }) => name))
  const delegates = all.some(({ name }) => name === 'agent')
  const own = all.filter(({ name }) => tools !== 'each' || name !== 'agent')
  const isOffered = (name: string, type: AgentType) => shown?.includes(name) ?? (delegates && mayStart(grant, type.name))
  const types = new Map(tools === 'agent' ? [] : [...named(startable, own)].filter(([name, type]) => isOffered(name, type)))
  return {
    schemas: [...own, ...types.entries().map(([name, type]) => toolOf(name, type))],
    decide(call, decide) {
      const type = types.get(call.name)
      if (!type) return decide(call)
      const task = isObject(call.input) && typeof call.input['task'] === 'string' ? call.input['task'] : ''
      const refuse = (outcome: Pick<ToolOutcome, 'text' | 'source'>): Verdict => ({ kind: 'refused', outcome: { ...outcome, callId: call.id, tool: call.name, ok: false } })
      if (task.trim() === '') return refuse({ text: 'Error: task is required', source: 'input' })
      const verdict = decide({ ...call, name: 'agent', input: { subagent_type: type.name, description: titleOf(task), prompt: task } })
      // Refused under the name the model used.
      return verdict.kind === 'refused' ? refuse(verdict.outcome) : verdict
    },
  }
}

/** What every provider takes as the name of a tool. */
const TOOL_NAME = { others: /[^a-zA-Z0-9_-]/g, characters: 64 }

/** Each type by the name of its tool; one whose name is taken gets a number. */
function named(types: readonly AgentType[], own: readonly ToolSchema[]): ReadonlyMap<string, AgentType> {
  const taken = new Set(own.map(({ name }) => name))
  const byName = new Map<string, AgentType>()
  for (const type of types) {
    const plain = type.name.replaceAll(TOOL_NAME.others, '_').slice(0, TOOL_NAME.characters)
    let name = plain
    for (let n = 2; taken.has(name) || byName.has(name); n += 1) name = `${plain.slice(0, TOOL_NAME.characters - `_${n}`.length)}_${n}`
    byName.set(name, type)
  }
  return byName
}

const toolOf = (name: string, { description }: AgentType): ToolSchema =>
  ({ name, description, input: { type: 'object', properties: { task: { type: 'string' } }, required: ['task'] } })
