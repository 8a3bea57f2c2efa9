import type { AgentType } from '../../src/core/agent-type.ts'

/** What an author meant by an agent file, and one of the many ways to write it down. */
export type Variant = {
  readonly text: string
  readonly shape: string
  readonly meant: Pick<AgentType, 'name' | 'description' | 'tools' | 'model' | 'prompt'>
}

/** Numbers that look random and are the same in every run (mulberry32). */
function dice(seed: number): (sides: number) => number {
  let state = seed
  return (sides) => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) % sides
  }
}

const OPENINGS = ['Use this agent when', 'Checks', 'Expert for', 'MUST BE USED to repair', 'Proactively mends', 'Für']
const OBJECTS = [
  'wheels', 'brake pads (front and rear)', 'chains & cogs', 'the "hub" gear', 'a rider\'s saddle', 'tyres, tubes and valves', '车轮',
  'lamps 💡',
]
const TAILS = ['.', ': anything that squeaks.', ' - fast', '; see issue#12', ', e.g. `true`', ': [a, b] or {c}', ' @ any size!', ' 100%']
const TALK = [
  '\\n\\n<example>\\nContext: A flat tyre.\\nuser: "My tyre: flat"\\nassistant: "At once"\\n</example>', '\\nExamples: one, two',
]
const TOOLS = [
  null, ['*'], ['Read'], ['Read', 'Grep', 'Glob'], ['Read', 'Bash(npm test, --x)'], ['mcp__bikes__find', 'Read'],
  ['search/codebase', 'Agent(a, b)'],
] as const
const MODELS = [null, 'sonnet', 'opus', 'inherit', 'claude-sonnet-4-5-20250929', 'Claude Sonnet 4.5', 'anthropic/claude-opus-4-1']
const BODIES = [
  'You mend bicycles.', '# Role\n\nYou mend.\n\n---\n\nname: not this\n\n```js\nreturn 1\n```', 'One line without an end',
  '<example>\nuser: hi\n</example>',
]

/** Ways to write a description down; null where that way cannot say this text. */
const DESCRIPTIONS: Readonly<Record<string, (text: string) => string | null>> = {
  bare: (text) => (/^[\w\u00c0-\uffff]/.test(text) && !text.includes(' #') ? ` ${text}` : null),
  double: (text) => ` ${JSON.stringify(text)}`,
  single: (text) => ` '${text.replaceAll('\'', '\'\'')}'`,
  literal: (text) => ` |-\n  ${text.replaceAll('\n', '\n  ')}`,
  folded: (text) => ` >-\n  ${text}`,
  below: (text) => (text.includes(' #') || /[:"'\\]/.test(text) ? null : `\n  ${text}`),
  unescaped: (text) => (text.includes('"hub"') ? ` "${text.replaceAll('\\n', '\\\\n')}"` : null),
}

const LISTS: readonly ((tools: readonly string[]) => string | null)[] = [
  (tools) => ` ${tools.join(', ')}`,
  (tools) => `\n${tools.map((tool) => `  - ${tool === '*' ? '"*"' : tool}`).join('\n')}`,
  (tools) => `\n${tools.map((tool) => `- ${tool === '*' ? '"*"' : tool}`).join('\n')}`,
  (tools) => ` [${tools.map((tool) => JSON.stringify(tool)).join(', ')}]`,
  (tools) => (tools.includes('*') ? null : ` [${tools.join(', ')}]`),
]

/** `count` agent files in the shapes people write, each with what it means. */
export function variants(count: number, seed = 1): readonly Variant[] {
  const roll = dice(seed)
  const pick = <T>(from: readonly T[]): T => {
    const chosen = from[roll(from.length)]
    if (chosen === undefined) throw new Error('nothing to pick from')
    return chosen
  }
  const some = <T>(ways: readonly (() => T | null)[]): T => pick(ways)() ?? some(ways)

  return Array.from({ length: count }, (_, i) => {
    const name = pick([`agent-${i}`, `agent-${i}`, `team.agent_${i}`, `Agent-${i}`])
    const description = `${pick(OPENINGS)} ${pick(OBJECTS)}${pick(TAILS)}${roll(3) === 0 ? pick(TALK) : ''}`
    const tools = pick(TOOLS)
    const model = pick(MODELS)
    const body = pick(BODIES)
    const way = some(Object.keys(DESCRIPTIONS).map((key) => () => (DESCRIPTIONS[key]?.(description) === null ? null : key)))
    const lines = [
      `name: ${name}`,
      `description:${DESCRIPTIONS[way]?.(description) ?? ''}`,
      ...(tools ? [`tools:${some(LISTS.map((list) => () => list(tools)))}`] : []),
      ...(model ? [`model: ${model}`] : []),
      ...(roll(3) === 0 ? [pick([
        'color: blue', 'version: 1.0', 'category: repair', 'tags: [a, b]', '# a comment', 'handoffs:\n  - label: next',
      ])] : []),
    ]
    const [first = '', ...rest] = lines
    const ordered = roll(4) === 0 ? [...rest, first] : lines
    const pad = pick(['', '', '  '])
    const plain = `---${pad}\n${ordered.join('\n')}\n---${pad}\n${pick(['', '\n', '\n\n'])}${body}${pick(['', '\n', '\n\n'])}`
    const ends = pick(['lf', 'lf', 'crlf'])
    const bom = roll(8) === 0
    return {
      text: `${bom ? '\uFEFF' : ''}${ends === 'crlf' ? plain.replaceAll('\n', '\r\n') : plain}`,
      shape: `${way}, ${ends}${bom ? ', BOM' : ''}`,
      meant: { name, description, tools, model, prompt: body },
    }
  })
}
