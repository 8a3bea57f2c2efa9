import * as fc from 'fast-check'

/** Pieces of what people write in a frontmatter, sound and broken, that spell every known field right. */
const piece = fc.constantFrom(
  ': ', ' #', '#', '"', '\'', '\\n', '\\', '- ', '[', ']', '{', '}', ', ', '*', '&a', '!', '|', '>',
  '%', '@', '`', '\t', '  ', '\n  ', '\n', '\n\n', '~', 'null', 'true', '12',
  'Use this agent when', 'user', 'Context', '<example>', '</example>', 'ä', '🚲', 'word', 'x: y', '\nuser: "hi"', '\n- item', '...', '--- x',
)
const prose = fc.array(piece, { maxLength: 8 }).map((pieces) => pieces.join(''))
const line = fc.oneof(
  prose.map((text) => `description: ${text}`), prose.map((text) => `initialPrompt: ${text}`),
  prose.map((text) => `tools: ${text}`), prose.map((text) => `model: ${text}`),
  prose.map((text) => `description: "${text}"`), prose.map((text) => `description: '${text}'`),
  prose.map((text) => `description: |\n  ${text}`), prose.map((text) => `\tcolor: ${text}`),
  fc.constantFrom(
    'name: b', 'tools: *', 'tools:\n\t- Read', 'maxTurns: 3', 'color: red', 'hooks: {Stop: []}', '# comment', '', 'background: true',
    'version: 1.0',
  ),
  prose,
)
const misspelt = fc.constantFrom(
  'Tools: Read', 'allowed-tools: Bash', 'TOOLS: x', 'max_turns: 3', 'COLOR: Red', 'Experimental.cacheTTL: 5m', 'MODEL: Sonnet', 'memory: USER',
)

const fileOf = (line: fc.Arbitrary<string>): fc.Arbitrary<string> => fc.record({
  lines: fc.array(line, { maxLength: 6 }), eol: fc.constantFrom('\n', '\r\n'), bom: fc.boolean(), body: prose, named: fc.boolean(),
}).map(({ lines, eol, bom, body, named }) => {
  const all = ['---', ...(named ? ['name: a'] : []), 'description: said', ...lines, '---', body].join('\n')
  return `${bom ? '\uFEFF' : ''}${all.replaceAll('\n', eol)}`
})

/** Agent files of any kind of brokenness, all known fields and values spelled right. */
export const anyFile = fileOf(line)

/** The same, with fields and values in the wrong case among them. */
export const anyMisspeltFile = fileOf(fc.oneof(line, misspelt))
