import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { AgentType } from '../../src/core/agent-type.ts'
import { fixText } from '../../src/definitions/fix.ts'
import { parseAgentFile } from '../../src/definitions/parse.ts'
import { anyFile, anyMisspeltFile } from './any-file.ts'

const at = { path: 'x.md', scope: 'user', trusted: true, root: '/' } as const

const typeOf = (text: string): Omit<AgentType, 'hash'> | null => {
  const { type } = parseAgentFile(text, at)
  if (type === null) return null
  const { hash: _hash, ...rest } = type
  return rest
}

describe('CMD-07 --fix', () => {
  test('twice is the same as once, keeps the type the file gave, and touches nothing below the frontmatter', () => {
    fc.assert(fc.property(anyFile, (text) => {
      const fixed = fixText(text)
      expect(fixText(fixed)).toBe(fixed)
      expect(typeOf(fixed)).toEqual(typeOf(text))
      const body = (of: string) => /^\uFEFF?---\r?\n(?:[\s\S]*?\n)?---[ \t]*(?:\r?\n|$)([\s\S]*)$/.exec(of)?.[1]
      expect(body(fixed)).toBe(body(text))
    }), { numRuns: 500 })
  }, 120_000)

  test('twice is the same as once for misspelt files too, and never loses a type', () => {
    fc.assert(fc.property(anyMisspeltFile, (text) => {
      const fixed = fixText(text)
      expect(fixText(fixed)).toBe(fixed)
      if (typeOf(text)) expect(typeOf(fixed)).toMatchObject({ name: typeOf(text)?.name, description: typeOf(text)?.description })
    }), { numRuns: 250 })
  }, 120_000)

  const repairs: readonly (readonly [what: string, before: string, after: string])[] = [
    ['quotes a value with a colon', 'description: when: now', 'description: "when: now"'],
    ['quotes a star', 'description: d\ntools: *', 'description: d\ntools: "*"'],
    ['escapes quotes inside quotes', 'description: "say "hi" now"', 'description: "say \\"hi\\" now"'],
    ['keeps a literal \\n literal', 'description: when: now\\n\\n<example>', 'description: "when: now\\\\n\\\\n<example>"'],
    [
      'puts unindented lines into the value above', 'description: d\nwhen it breaks: mend\nmodel: opus',
      'description: "d\\nwhen it breaks: mend"\nmodel: opus',
    ],
    [
      'leaves sound lines beside a broken one as they are', 'description: when: now\ntools: [Read,   Grep] # two\nmodel: "opus"',
      'description: "when: now"\ntools: [Read,   Grep] # two\nmodel: "opus"',
    ],
    [
      'corrects the case and dashes of field names', 'description: d\nMax_Turns: 3\nDISALLOWED-TOOLS: Bash',
      'description: d\nmaxTurns: 3\ndisallowedTools: Bash',
    ],
    ['renames allowed-tools to tools, never to its opposite', 'description: d\nallowed-tools: Read', 'description: d\ntools: Read'],
    [
      'leaves a misspelt field beside the right one', 'description: d\ntools: Read\nTools: Bash',
      'description: d\ntools: Read\nTools: Bash',
    ],
    ['renames only the first of two spellings', 'description: d\nTools: Read\nTOOLS: Bash', 'description: d\ntools: Read\nTOOLS: Bash'],
    [
      'corrects the case of fixed values', 'description: d\nmodel: Sonnet\ncolor: RED\nmemory: "User"',
      'description: d\nmodel: sonnet\ncolor: red\nmemory: user',
    ],
    ['quotes bare numbers and booleans as text', 'description: 007', 'description: "007"'],
    ['replaces tabs that YAML refuses', 'description: d\ntools:\n\t- Read\n\t- Grep', 'description: d\ntools: ["Read","Grep"]'],
    [
      'leaves a broken map for its author', 'description: when: now\nhooks:\n  Stop: [\nmodel: opus',
      'description: "when: now"\nhooks:\n  Stop: [\nmodel: opus',
    ],
    [
      'does not guess at unknown fields or values', 'description: d\nversion: 1\ncolor: magenta',
      'description: d\nversion: 1\ncolor: magenta',
    ],
  ]
  for (const [what, before, after] of repairs) {
    test(what, () => expect(fixText(`---\nname: a\n${before}\n---\nbody`)).toBe(`---\nname: a\n${after}\n---\nbody`))
  }

  for (const text of [
    '', '# Title\n', '---js\nx\n---\n', '---\nname: a\n', '---\nx: [\n---\n', '---\n---\n', '------\nname: A: b\n---\n',
  ]) {
    test(`leaves ${JSON.stringify(text)} alone`, () => expect(fixText(text)).toBe(text))
  }
})
