import type { AgentType } from './core/agent-type.ts'
import type { Grant } from './core/grant.ts'
import { mayStart } from './core/grant.ts'
import type { ProjectTexts } from './prompts/project-texts.ts'

/** PRO-02, literal. */
const SUB_AGENT_RULES = 'You are a sub-agent. Your last message is your whole result: complete and short. Nobody answers questions: if blocked, say what you need and stop. Put independent calls in one reply.'

const LEAD_RULES = 'You lead this run and answer its user. Work in small steps, rest what you say on what you read, name files as path:line. Put independent calls in one reply.'

/** KIN-06. */
export const NO_DELEGATION = 'You cannot delegate further: do this work yourself.'

const BETWEEN = '\n\n'

export type PromptOptions = {
  readonly type: AgentType | null
  readonly isRoot: boolean
  readonly grant: Grant
  /** The types a model may name; those its grant lets it start are listed. */
  readonly startable: readonly AgentType[]
  /** TYP-20: empty for no types. */
  segment(types: readonly AgentType[]): string
  /** PRO-03, PRO-04; absent: none. */
  readonly project?: ProjectTexts
  /** PRO-05: what its `MEMORY.md` says; absent: it keeps none. */
  readonly memory?: string
}

/** A named piece of a system prompt. */
export type PromptPart = { readonly part: 'base rules' | 'role' | 'instructions' | 'skills' | 'memory' | 'types' | 'depth'; readonly text: string }

/** The system prompt of a run, byte-equal for every run of one type version with the same startable types and project texts (MOD-07, PRO-01). */
export const systemPrompt = (options: PromptOptions): string => promptParts(options).map(({ text }) => text).join(BETWEEN)

/** The pieces of a system prompt in the order of PRO-01; those that say nothing are left out. */
function promptParts({ type, isRoot, grant, project, memory, ...options }: PromptOptions): readonly PromptPart[] {
  const delegates = grant.tools.some(({ name }) => name === 'agent')
  const startable = options.segment(delegates ? options.startable.filter(({ name }) => mayStart(grant, name)) : [])
  const parts: readonly PromptPart[] = [
    { part: 'base rules', text: isRoot ? LEAD_RULES : SUB_AGENT_RULES },
    { part: 'role', text: type?.prompt ? `# Your role: ${type.name}\n${type.prompt}` : '' },
    { part: 'instructions', text: project?.instructions(type) ?? '' },
    { part: 'skills', text: type && project ? project.skills(type) : '' },
    { part: 'memory', text: memory === undefined ? '' : `# Your memory (MEMORY.md)\n${memory || 'It is empty. Note with the memory tool what you want to know next time.'}` },
    { part: 'types', text: startable ? `# Sub-agents you can start\n${startable}` : '' },
    { part: 'depth', text: grant.depth === 0 ? NO_DELEGATION : '' },
  ]
  return parts.filter(({ text }) => text !== '')
}

/** What each piece of a system prompt costs in bytes, what parts it from the one before included: together they are the whole prompt. */
export const promptBytes = (options: PromptOptions): readonly { readonly part: PromptPart['part']; readonly bytes: number }[] =>
  promptParts(options).map(({ part, text }, i) => ({ part, bytes: Buffer.byteLength((i === 0 ? '' : BETWEEN) + text) }))
