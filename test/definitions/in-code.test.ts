import { describe, expect, test } from 'vitest'
import { formatDiagnostic } from '../../src/core/diagnostic.ts'
import { typesFromCode } from '../../src/definitions/in-code.ts'
import { parseAgentFile } from '../../src/definitions/parse.ts'

describe('TYP-18 types given in code', () => {
  test('take the fields of a file, the prompt being the body', () => {
    const { types, diagnostics } = typesFromCode({
      mender: {
        description: 'Mends.', prompt: 'You mend.\n', tools: ['Read', 'Bash(npm test, --x)'], maxTurns: 3,
        experimental: { cacheTtl: '1h' },
      },
    }, '--agents')
    const file = parseAgentFile(
      '---\nname: mender\ndescription: Mends.\ntools: Read, Bash(npm test, --x)\nmaxTurns: 3\nexperimental: {cacheTtl: 1h}\n---\nYou mend.\n',
      { path: 'x.md', scope: 'code', trusted: true, root: '/' },
    ).type
    expect(diagnostics).toEqual([])
    expect(types).toEqual([{ ...file, hash: types[0]?.hash }])
    expect(types[0]).toMatchObject({ scope: 'code', path: null, trusted: true, cacheTtl: '1h', mode: 'build' })
  })

  test('give the diagnostics of a file, and one bad definition stops no other', () => {
    const { types, diagnostics } = typesFromCode({
      'bad name': { description: 'x', prompt: 'y' }, mute: { prompt: 'y' },
      good: { description: 'x', prompt: 'y', tool: 'Read', maxTurns: '0' }, text: 'x',
      code: { description: 'd', model: 'script', prompt: 'none' },
    }, '--agents')
    expect(types.map(({ name }) => name)).toEqual(['good'])
    expect(diagnostics.map(formatDiagnostic)).toEqual([
      '--agents:1: error: agent "bad name": name "bad name" cannot be used; use letters, digits and "-", for example "bad-name"',
      '--agents:1: warning: agent "mute": field "description" is missing, so this is no agent type; say when to use it',
      '--agents:1: warning: agent "good": unknown field "tool", did you mean "tools"?; dropped; rename or remove it',
      '--agents:1: warning: agent "good": field "maxTurns" must be an integer of at least 1; ignored',
      '--agents:1: error: agent "text": the definition must be a map of plain data; write {"description": "…", "prompt": "…"}',
      '--agents:1: error: agent "code": `model: script` needs a ```js block in the body, and there is none; '
        + 'add the program, or choose a language model',
    ])
  })

  test('may be a program', () => {
    const { types } = typesFromCode({ p: { description: 'd', model: 'script', prompt: '```js\nreturn 1\n```' } }, 'code')
    expect(types[0]?.program).toEqual({ code: 'return 1', line: 2 })
  })

  for (const [what, given] of Object.entries({ text: 'x', 'a list': [], 'a number': 3 })) {
    test(`${what} instead of a map is one error`, () => expect(typesFromCode(given, 'code').diagnostics).toHaveLength(1))
  }

  test('nothing given is no types and no findings', () => {
    for (const nothing of [undefined, null, {}]) expect(typesFromCode(nothing, 'x')).toEqual({ types: [], diagnostics: [] })
  })

  test('cycles, functions and prototypes in a definition are refused or dropped', () => {
    const cycle: Record<string, unknown> = { description: 'd', prompt: 'p' }
    cycle['outputSchema'] = cycle
    const { types, diagnostics } = typesFromCode(
      {
        cycle, call: { description: 'd', prompt: 'p', hooks: () => 1 },
        proto: JSON.parse('{"description":"d","prompt":"p","__proto__":{"polluted":1}}') as unknown,
      },
      'code',
    )
    expect(types.map(({ name }) => name)).toEqual(['proto'])
    expect(diagnostics).toHaveLength(2)
    expect('polluted' in {}).toBe(false)
  })
})
