import { describe, expect, test } from 'vitest'
import type { Diagnostic } from '../../src/core/diagnostic.ts'
import { formatDiagnostic } from '../../src/core/diagnostic.ts'
import { deferredFields } from '../../src/definitions/deferred-fields.ts'
import { parseAgentFile } from '../../src/definitions/parse.ts'

const own = { path: 'a.md', scope: 'user', trusted: true, root: '/repo' } as const
const foreign = { path: 'a.md', scope: 'project', trusted: false, root: '/repo' } as const
const plugin = { path: 'a.md', scope: 'plugin', trusted: true, root: '/repo', plugin: 'bikes' } as const

const head = (fields: string, body = 'Role.\n') => `---\nname: a\ndescription: Does a.\n${fields}\n---\n${body}`
const told = (diagnostics: readonly Diagnostic[]) => diagnostics.map(formatDiagnostic)

describe('what a diagnostic says, word for word', () => {
  const rows: readonly (readonly [id: string, text: string, line: string])[] = [
    ['TYP-03', head('initialPrompt: a: b'), 'a.md:4: warning: frontmatter is not valid YAML (line 4); read line by line'],
    ['TYP-04', '---\ntitle: a: b\n---\n', 'a.md:2: error: frontmatter cannot be read (line 2); write it as YAML, with a line `name: …`'],
    ['TYP-05', '---js\nthrow 1\n---\n', 'a.md:1: error: frontmatter language "js" is not accepted; use YAML'],
    [
      'TYP-12', head('disallowedTool: Bash'),
      'a.md:4: warning: unknown field "disallowedTool", did you mean "disallowedTools"?; dropped; rename or remove it',
    ],
    ['TYP-12', head('maxTurns: many'), 'a.md:4: warning: field "maxTurns" must be an integer of at least 1; ignored'],
    [
      'TYP-07', '---\nname: a:b\ndescription: x\n---\n',
      'a.md:2: error: name "a:b" cannot be used; use letters, digits and "-", for example "a-b"',
    ],
    ['TYP-06', '---\nname: a\n---\n', 'a.md:2: warning: field "description" is missing, so this is no agent type; say when to use it'],
    ['TYP-08', '---\nname: 12\ndescription: x\n---\nRole', 'a.md:2: note: field "name" is a bare number, taken as text; quote it'],
    [
      'PRG-01', head('model: script'),
      'a.md:4: error: `model: script` needs a ```js block in the body, and there is none; add the program, or choose a language model',
    ],
  ]
  for (const [id, text, line] of rows) test(`${id} ${line}`, () => expect(told(parseAgentFile(text, own).diagnostics)).toEqual([line]))
})

test('TYP-09 TYP-10 every field arrives as what it is', () => {
  const { type, diagnostics } = parseAgentFile(head([
    'disallowedTools: WebFetch', 'permissionMode: manual', 'maxTurns: 4', 'skills: a, b', 'mcpServers: [x, {y: {command: z}}]',
    'hooks: {Stop: [{hooks: [{type: command, command: ls}]}]}', 'memory: local', 'background: true',
    'effort: 7', 'isolation: worktree', 'color: cyan',
    'initialPrompt: Go', 'experimental: {cacheTtl: 5m}', 'omitClaudeMd: "true"', 'mode: build', 'readOnly: true',
    'timeout: 1.5', 'expectedDuration: 9',
    'outputSchema: {type: object}', 'autoCompactWindow: 1000',
  ].join('\n')), own)
  expect(diagnostics).toEqual([])
  expect(type).toMatchObject({
    disallowedTools: ['WebFetch'], permissionMode: 'default', maxTurns: 4, skills: ['a', 'b'], mcpServers: ['x', { y: { command: 'z' } }],
    hooks: { Stop: [{ hooks: [{ type: 'command', command: 'ls' }] }] }, memory: 'local', background: true, effort: 7,
    isolation: 'worktree', color: 'cyan',
    initialPrompt: 'Go', cacheTtl: '5m', omitClaudeMd: true, mode: 'build', readOnly: true, timeout: 1.5, expectedDuration: 9,
    outputSchema: { type: 'object' }, autoCompactWindow: 1000, tools: null, model: null, program: null,
  })
})

test('a field that takes effect later is named, with what is missing', () => {
  const { type } = parseAgentFile(head('hooks: {Stop: []}\nskills: a\nisolation: worktree\nmaxTurns: 3'), own)
  expect(type && deferredFields(type).map(({ field }) => field)).toEqual(['hooks'])
})

describe('TYP-13 the mode of a type that names none', () => {
  for (const [tools, mode] of [
    ['Read, Write', 'build'], ['MultiEdit', 'build'], ['Bash(npm test)', 'build'], ['bash', 'build'], ['"*"', 'explore'],
    ['Read, WebFetch, Agent', 'explore'], ['mcp__x__write', 'explore'],
  ]) {
    test(`tools: ${tools} is ${mode}`, () => expect(parseAgentFile(head(`tools: ${tools}`), own).type?.mode).toBe(mode))
  }
  test('no list is explore, and a written mode wins', () => {
    expect(parseAgentFile(head('color: red'), own).type?.mode).toBe('explore')
    expect(parseAgentFile(head('tools: Write\nmode: explore'), own).type?.mode).toBe('explore')
  })
})

describe('SCO-06 a file of an untrusted root', () => {
  const risky = 'hooks: {Stop: []}\nmcpServers: [x]\npermissionMode: bypassPermissions\nmemory: user'
  test('keeps no hooks, servers, permission mode or user memory, and says so', () => {
    const { type, diagnostics } = parseAgentFile(head(risky), foreign)
    expect(type).not.toBeNull()
    for (const field of ['hooks', 'mcpServers', 'permissionMode', 'memory']) expect(type).not.toHaveProperty(field)
    expect(type?.trusted).toBe(false)
    expect(told(diagnostics)).toEqual(['hooks', 'mcpServers', 'permissionMode', 'memory: user'].map((field, i) =>
      `a.md:${4 + i}: warning: ${field} ignored: /repo is not trusted; run "cadre trust"`))
  })
  test('cannot smuggle them in through the line reader or another spelling of a key', () => {
    for (const text of [head(`${risky}\ncolor: a: b`), head(`"hooks": {Stop: []}\n? permissionMode\n: bypassPermissions`)]) {
      const { type } = parseAgentFile(text, foreign)
      expect(type).not.toBeNull()
      for (const field of ['hooks', 'mcpServers', 'permissionMode', 'memory']) expect(type).not.toHaveProperty(field)
    }
  })
  test('keeps project memory, and trusted it keeps all', () => {
    expect(parseAgentFile(head('memory: project'), foreign).type?.memory).toBe('project')
    expect(parseAgentFile(head(risky), { ...foreign, trusted: true }).type).toMatchObject({
      memory: 'user', permissionMode: 'bypassPermissions',
    })
  })
})

test('SCO-05 a plugin keeps no hooks, servers or permission mode, with a note each', () => {
  const { type, diagnostics } = parseAgentFile(head('hooks: {Stop: []}\nmcpServers: [x]\npermissionMode: plan\nmemory: user'), plugin)
  expect(type).toMatchObject({ name: 'bikes:a', memory: 'user' })
  for (const field of ['hooks', 'mcpServers', 'permissionMode']) expect(type).not.toHaveProperty(field)
  expect(diagnostics.map(({ severity }) => severity)).toEqual(['note', 'note', 'note'])
})

describe('PRG-01 the program of a script type', () => {
  const script = (body: string) => parseAgentFile(head('model: script', body), own).type?.program
  test('is the first js block, and its line is that of its first line in the file', () => {
    expect(script('Text\n\n```js\nreturn 1\n```\n```js\nreturn 2\n```\n')).toEqual({ code: 'return 1', line: 9 })
  })
  test('keeps its line with CRLF ends and a byte order mark', () => {
    const text = `\uFEFF${head('model: script', '\n```js\nlet a\nreturn a\n```\n')}`.replaceAll('\n', '\r\n')
    expect(parseAgentFile(text, own).type?.program).toEqual({ code: 'let a\nreturn a', line: 8 })
  })
  test('is not a block inside another, of another language, or one never closed', () => {
    expect(script('````\n```js\nreturn 1\n```\n````\n')).toBeUndefined()
    expect(script('~~~js\nreturn 1\n~~~\n```json\n{}\n```\n')).toBeUndefined()
    expect(script('```js\nreturn 1\n')).toBeUndefined()
  })
  test('may hold shorter fences and template texts', () => {
    expect(script('````js\nconst a = `\n```\n`\nreturn a\n````\n')).toEqual({ code: 'const a = `\n```\n`\nreturn a', line: 7 })
  })
})

describe('hostile files', () => {
  /** As much of it as a frontmatter may hold, and a little less. */
  const most = (piece: string, before = '') => file(before + piece.repeat(Math.floor((32_000 - before.length) / piece.length)))
  const file = (fields: string) => `---\nname: a\ndescription: b\n${fields}\n---\n`
  const fields = (count: number, key: string) => file(Array.from({ length: count }, (_, i) => `${key}${i}: v`).join('\n'))
  const rows: Readonly<Record<string, string>> = {
    'nested lists': most('[', 'x: '),
    'nested maps': most('{a: ', 'x: '),
    'nested block lists': most('- '),
    'nested keys': most('? '),
    'blank lines between text': most(`x${'\n'.repeat(150)}`),
    'blank lines': most('\n'),
    'lines of blanks': most(`${' '.repeat(100)}\n`, 'x: |\n'),
    'anchors': most('&a '),
    'anchored keys': most('&a a: b\n'),
    'aliases': most('- *a\n', 'x: &a 1\ny:\n'),
    'tags': most('!!x '),
    'fields': fields(2_500, 'key'),
    'unknown fields with long names': fields(100, 'k'.repeat(300)),
    'one field again and again': most('description: c\n'),
    'examples never closed': most('<example>\n'),
    'examples opened and closed': most('<example>\nuser: "a: b"\n</example>\n', 'initialPrompt: x: y\n'),
    'quotes': most('"a" ', 'x: '),
    'quotes in a description': most('a" "b ', 'initialPrompt: "'),
    'backslashes': most('\\', 'x: "'),
    'colons': most('a: '),
    'hashes': most(' #', 'x: a: b'),
    'tabs': most('\t', 'x:'),
    'dashes': most('--- \t'),
    'carriage returns': most('\r'),
    'brackets in a list': most('(,', 'tools: '),
    'a name of spaces': `---\nname: ${' x'.repeat(15_000)}\ndescription: b\n---\n`,
    'a name of dashes': `---\nname: a${'-'.repeat(30_000)}!\ndescription: b\n---\n`,
    'more than a frontmatter may hold': most('x: y\n').replace('x: y', 'x: y\n'.repeat(20_000)),
    'fences in a body': head('model: script', '```js x`\n'.repeat(20_000)),
    'fences of many marks': head('model: script', `${'`'.repeat(100_000)}\n`.repeat(5)),
  }
  for (const [shape, text] of Object.entries(rows)) {
    test(`TYP-19 ${shape} give a verdict, never a throw or a hang`, { timeout: 10_000 }, () => {
      const { type, kind } = parseAgentFile(text, own)
      expect(type !== null).toBe(kind === 'type')
    })
  }
  test('a value cannot reach a prototype', () => {
    const { type } = parseAgentFile(
      head('outputSchema: {__proto__: {polluted: 1}, properties: {__proto__: {polluted: 1}}}\n__proto__: {polluted: 1}'), own,
    )
    expect('polluted' in {}).toBe(false)
    expect(JSON.stringify(type?.outputSchema)).toBe('{"properties":{}}')
    expect(type && Object.getPrototypeOf(type)).toBe(Object.prototype)
  })
})

test('SCO-10 equal files have equal hashes, and any other byte another one', () => {
  const hash = (text: string) => parseAgentFile(text, own).type?.hash
  expect(hash(head('color: red'))).toMatch(/^[0-9a-f]{64}$/)
  expect(hash(head('color: red'))).toBe(hash(head('color: red')))
  expect(hash(head('color: red'))).not.toBe(hash(head('color: red ')))
})
