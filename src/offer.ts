import type { AgentType } from './core/agent-type.ts'
import type { ToolCall, ToolSchema, Verdict } from './core/contract.ts'
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
  const shown = toolbox.schemas(frozen.shown ?? grant.tools.map(({ name }) => name))
  if (tools === 'agent' || !shown.some(({ name }) => name === 'agent')) return { schemas: shown, decide: (call, decide) => decide(call) }
  const taken = new Set(shown.map(({ name }) => name))
  const types = startable.filter(({ name }) => (frozen.shown?.includes(name) ?? mayStart(grant, name)) && !taken.has(name))
  return {
    schemas: [...shown.filter(({ name }) => tools === 'both' || name !== 'agent'), ...types.map(toolOf)],
    decide(call, decide) {
      const type = types.find(({ name }) => name === call.name)
      const verdict = decide(type ? delegationOf(type, call) : call)
      // Refused under the name the model used.
      return verdict.kind === 'refused' ? { kind: 'refused', outcome: { ...verdict.outcome, tool: call.name } } : verdict
    },
  }
}

const toolOf = ({ name, description }: AgentType): ToolSchema =>
  ({ name, description, input: { type: 'object', properties: { task: { type: 'string' } }, required: ['task'] } })

function delegationOf(type: AgentType, call: ToolCall): ToolCall {
  const task = isObject(call.input) && typeof call.input['task'] === 'string' ? call.input['task'] : ''
  return { ...call, name: 'agent', input: { subagent_type: type.name, description: titleOf(task), prompt: task } }
}
