import type { AgentType } from '../core/agent-type.ts'
import type { Diagnostic } from '../core/diagnostic.ts'
import { startedByModels } from './find-type.ts'

/** Tokens the list of types may cost each agent that can delegate (TYP-20). */
const MAX_TOKENS = 15_000

/** Text of this kind has about four characters a token. */
const CHARS_PER_TOKEN = 4

/** How many of the longest types a warning names. */
const NAMED = 3

/** One line `- <name>: <description>` per type a model may start, in byte order of the names (TYP-20): equal types give equal bytes. */
export const typeSegment = (types: readonly AgentType[]): string =>
  inOrder(types.filter(startedByModels)).map(lineOf).join('\n')

const lineOf = ({ name, description }: AgentType): string => `- ${name}: ${description.replaceAll(/\s*\n\s*/g, ' ').trim()}`

const inOrder = (types: readonly AgentType[]): readonly AgentType[] =>
  types.toSorted((a, b) => Buffer.compare(Buffer.from(a.name), Buffer.from(b.name)))

/** The warning about a list that is too long, at the longest description. */
export function segmentProblem(types: readonly AgentType[]): Diagnostic | undefined {
  const tokens = Math.ceil(typeSegment(types).length / CHARS_PER_TOKEN)
  if (tokens <= MAX_TOKENS) return undefined
  const longest = types.filter(startedByModels).toSorted((a, b) => lineOf(b).length - lineOf(a).length)
  const named = longest.slice(0, NAMED).map(({ name }) => name).join(', ')
  return {
    path: longest[0]?.path ?? 'agents',
    line: 1,
    severity: 'warning',
    message: `the list of agent types takes about ${tokens} tokens of every agent that can delegate; the longest are ${named}`,
    remedy: 'shorten their descriptions or remove types',
  }
}
