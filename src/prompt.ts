import type { AgentType } from './core/agent-type.ts'
import type { Grant } from './core/grant.ts'
import { mayStart } from './core/grant.ts'

/** PRO-02, literal. */
const SUB_AGENT_RULES = 'You are a sub-agent. Your last message is your whole result: complete and short. Nobody answers questions: if blocked, say what you need and stop. Put independent calls in one reply.'

const LEAD_RULES = 'You lead this run and answer its user. Work in small steps, rest what you say on what you read, name files as path:line. Put independent calls in one reply.'

/** KIN-06. */
const NO_DELEGATION = 'You cannot delegate further: do this work yourself.'

/** The system prompt of a run, byte-equal for every run of one type version with the same startable types (MOD-07, PRO-01). */
export function systemPrompt(options: {
  readonly type: AgentType | null
  readonly isRoot: boolean
  readonly grant: Grant
  /** The types a model may name; those its grant lets it start are listed. */
  readonly startable: readonly AgentType[]
  /** TYP-20: empty for no types. */
  segment(types: readonly AgentType[]): string
}): string {
  const { type, isRoot, grant } = options
  const delegates = grant.tools.some(({ name }) => name === 'agent')
  const startable = options.segment(delegates ? options.startable.filter(({ name }) => mayStart(grant, name)) : [])
  return [
    isRoot ? LEAD_RULES : SUB_AGENT_RULES,
    ...(type?.prompt ? [`# Your role: ${type.name}\n${type.prompt}`] : []),
    ...(startable ? [`# Sub-agents you can start\n${startable}`] : []),
    ...(grant.depth === 0 && !isRoot ? [NO_DELEGATION] : []),
  ].join('\n\n')
}
