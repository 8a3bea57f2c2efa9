import { anything, assert, json, jsonValue, oneof, property, string } from 'fast-check'
import { describe, expect, test } from 'vitest'
import { parseAnswer, parseStep } from '../../src/programs/parse-step.ts'
import { parsePs } from '../../src/programs/vitals.ts'

const tools = ['read']
const parse = (step: unknown) => parseStep(JSON.stringify(step), tools)

describe('SHL-07 what an isolate process says is checked before it is believed', () => {
  for (const [name, step] of Object.entries({
    'no object': 5,
    'an unknown kind': { kind: 'steps', log: '' },
    'a call of a tool that is not granted': { kind: 'calls', calls: [{ id: 1, tool: 'bash', input: {} }], log: '' },
    'a call without an id': { kind: 'calls', calls: [{ tool: 'read', input: {} }], log: '' },
    'a call without input': { kind: 'calls', calls: [{ id: 1, tool: 'read' }], log: '' },
    'calls that are no list': { kind: 'calls', calls: { length: 1 }, log: '' },
    'more calls than may be pending': { kind: 'calls', calls: Array.from({ length: 257 }, (_, id) => ({ id, tool: 'read', input: 1 })), log: '' },
    'no log': { kind: 'done', value: 1, pending: [] },
    'a log that is too long': { kind: 'done', value: 1, pending: [], log: 'x'.repeat(65_537) },
    'a limit there is not': { kind: 'limit', limit: 'patience', log: '' },
    'an error without a message': { kind: 'error', stack: '', log: '' },
  })) {
    test(`${name} is no step`, () => {
      expect(parse(step)).toBeNull()
    })
  }

  test('no text whatever makes the check throw, and what passes is plain data', () => {
    assert(property(oneof(string(), json(), jsonValue().map((value) => JSON.stringify({ kind: 'done', value, pending: [], log: '' }))), (body) => {
      const step = parseStep(body, tools)
      expect(step === null || JSON.parse(JSON.stringify(step)) !== undefined).toBe(true)
    }))
    assert(property(anything(), (message) => {
      const answer = parseAnswer(message)
      expect(answer === null || typeof answer.run === 'number').toBe(true)
    }))
  })

  test('a key __proto__ is taken out, at every depth, and pollutes nothing', () => {
    const step = parseStep('{"kind":"done","value":{"a":[{"__proto__":{"polluted":1},"b":2}]},"pending":[],"log":"","__proto__":{"polluted":1}}', tools)
    expect(JSON.stringify(step)).toBe('{"kind":"done","value":{"a":[{"b":2}]},"pending":[],"log":""}')
    expect(Object.assign({}, step)).not.toHaveProperty('polluted')
  })

  test('data too deep for the rest of the way is an error of the program', () => {
    const deep = (levels: number) => parseStep(`{"kind":"done","value":${'['.repeat(levels)}${']'.repeat(levels)},"pending":[],"log":""}`, tools)
    expect(deep(100)).toMatchObject({ kind: 'done' })
    expect(deep(200_000)).toMatchObject({ kind: 'error', message: 'the program hands out data nested deeper than 128 levels' })
  })

  test('an error of many lines is told in one', () => {
    expect(parse({ kind: 'error', message: 'a\n  b\r\nc', stack: 'Error: a\n at cadre:prelude:1:1\n at f (cadre:program:31:4)\n at cadre:program:40:4', log: '' }))
      .toEqual({ kind: 'error', message: 'a b c', line: 31, log: '' })
  })
})

test('where there is no /proc, memory and CPU time are read from ps', () => {
  expect([...parsePs('  12  2048   0:01.50\n 345 10240 01:02:03\n   6 1024 2-00:00:01\n\n')]).toEqual([
    [12, { residentMb: 2, cpuMs: 1500 }],
    [345, { residentMb: 10, cpuMs: 3_723_000 }],
    [6, { residentMb: 1, cpuMs: 172_801_000 }],
  ])
})
