import { describe, expect, test } from 'vitest'

import type { Json } from '../../src/core/json.ts'
import { decide } from '../../src/permissions/decide.ts'
import { agent } from '../../src/tools/agent.ts'
import { glob } from '../../src/tools/glob.ts'
import { grep } from '../../src/tools/grep.ts'
import { read } from '../../src/tools/read.ts'
import { createToolbox } from '../../src/tools/toolbox.ts'
import { grantOf } from './grant-of.ts'

const toolbox = createToolbox([read, glob, grep, agent])
const grant = grantOf({
  type: 'explorer',
  tools: [{ name: 'read', effect: 'read', only: [['src/**', 'lib/**'], ['**/*.ts']] }, { name: 'grep', effect: 'read', only: [] }],
})

function decided(name: string, input: Json) {
  const call = { id: 'c1', name, input: input as never, local: false }
  return decide(call, grant, toolbox.find(name) !== undefined, toolbox.check(call))
}

describe('GRA-09: rights come before input', () => {
  /** A call, the source of its refusal, and its text. */
  const refusals: readonly (readonly [what: string, name: string, input: Json, source: 'role' | 'input', text: string | RegExp])[] = [
    ['a tool outside the grant', 'glob', { pattern: '*' }, 'role', 'glob is not available to explorer.'],
    ['a tool outside the grant, by another of its names', 'Task', { prompt: 'x' }, 'role', 'Task is not available to explorer.'],
    ['a tool outside the grant, with input that does not fit: nothing is said of its input', 'glob', { pattern: 7 }, 'role', 'glob is not available to explorer.'],
    ['bad input of a granted tool', 'grep', { pattern: 7 }, 'input', /^Error: grep: pattern: .*string/],
    ['bad input of a granted tool, by another of its names', 'Grep', { pattern: 7 }, 'input', /^Error: grep: pattern: .*string/],
    ['bad input of a limited tool: its limits are not told', 'read', {}, 'input', 'Error: read: path is required (string)'],
    ['a tool that does not exist: only granted ones are named', 'launch', {}, 'input', 'Unknown tool launch. Available: read, grep.'],
    ['a name of every object', 'constructor', {}, 'input', 'Unknown tool constructor. Available: read, grep.'],
    ['a name that would be all tools in a list', '*', {}, 'input', 'Unknown tool *. Available: read, grep.'],
    [
      'input past the limits of every layer', 'read', { path: 'src/a.md' }, 'role',
      'read with this input is not available to explorer: it is limited to src/** or lib/**, and to **/*.ts.',
    ],
  ]
  for (const [what, name, input, source, text] of refusals) {
    test(what, () => {
      const expected = typeof text === 'string' ? text : expect.stringMatching(text)
      expect(decided(name, input)).toEqual({ kind: 'refused', outcome: { callId: 'c1', tool: name, ok: false, text: expected, source } })
    })
  }
})

test('GRA-09: a call that is granted runs under the tool’s own name, with checked input, in the thread that has its function', () => {
  expect(decided('Read', { path: 'src/a.ts', odd: 1 })).toEqual({ kind: 'run', call: { id: 'c1', name: 'read', input: { path: 'src/a.ts' }, local: true } })
})
