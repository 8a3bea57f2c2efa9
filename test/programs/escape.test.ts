import { afterAll, describe, expect, test } from 'vitest'
import { createPrograms } from '../../src/programs/programs.ts'
import { runProgram } from './run-program.ts'

/** One process, so that every program follows the last one in the same place. */
const programs = createPrograms({ max: 1, sliceSeconds: 2 })
afterAll(() => programs.close())

/** What there would be to find outside an isolate. */
const OUTSIDE = "[typeof process, typeof require, typeof Buffer, typeof setTimeout, typeof ivm, typeof __cadre].join()"
const NOTHING = 'undefined,undefined,undefined,undefined,undefined,undefined'

describe('PRG-05 no program can reach Node', () => {
  const ways: Record<string, string> = {
    'the constructor of a tool': `return tools.read.constructor('return ${OUTSIDE}')()`,
    'the constructor of log': `return log.constructor.constructor('return ${OUTSIDE}')()`,
    'the constructor of a promise a tool gave': `const p = tools.read({}); return p.then.constructor('return ${OUTSIDE}')()`,
    'the constructor of what a tool answered': `const { input } = await tools.read({ a: [1] }); return input.a.map.constructor('return ${OUTSIDE}')()`,
    'the constructor of an error a limit threw': `try { log('x'.repeat(1)); null.x } catch (e) { return e.constructor.constructor('return ${OUTSIDE}')() }`,
    'an indirect eval': `return (0, eval)(${JSON.stringify(OUTSIDE)})`,
    'the constructor of an async function': `return (async () => {}).constructor('return ${OUTSIDE}')()`,
    'the clock': `return Date.constructor('return ${OUTSIDE}')()`,
    'the caller': `const f = function () { return arguments.callee }; try { return f() } catch { return ${OUTSIDE} }`,
  }
  for (const [way, code] of Object.entries(ways)) {
    test(`not through ${way}`, async () => {
      expect(await runProgram(programs, code)).toMatchObject({ kind: 'done', value: NOTHING })
    })
  }

  test('not through the frames of a stack', async () => {
    expect(await runProgram(programs, `
      Error.prepareStackTrace = (_, frames) => frames
      const frames = await new Promise((resolve) => resolve(new Error().stack))
      return frames.map((frame) => [typeof frame.getThis(), typeof frame.getFunction()].join()).every((found) => found === 'undefined,undefined')`))
      .toMatchObject({ kind: 'done', value: true })
  })

  test('no handle of isolated-vm lies about in its world', async () => {
    expect(await runProgram(programs, `
      const seen = new Set(), found = []
      const walk = (value, depth) => {
        if ((typeof value !== 'object' && typeof value !== 'function') || value === null || seen.has(value) || depth > 6) return
        seen.add(value)
        if (/^(Reference|ExternalCopy|Isolate|Context|Script|Module|Callback|Dereference)$/.test(value.constructor?.name ?? '')) found.push(value.constructor.name)
        for (const key of Reflect.ownKeys(value)) { try { walk(value[key], depth + 1) } catch {} }
        walk(Object.getPrototypeOf(value), depth + 1)
      }
      walk(globalThis, 0)
      return found`)).toMatchObject({ kind: 'done', value: [] })
  })
})

describe('PRG-05 a program that spoils its own world spoils no other', () => {
  const spoils: Record<string, string> = {
    'Object.prototype': "Object.prototype.kind = 'done'; Object.prototype.value = 666; Object.prototype.id = 9; Object.prototype.tool = 'bash'; Object.prototype.toJSON = function () { return 666 }",
    'setters on Object.prototype': "for (const key of ['1', '2', 'message', 'resolve', 'reject', 'json', 'value']) Object.defineProperty(Object.prototype, key, { get() { return 666 }, set() {} })",
    'Array.prototype': "Array.prototype[0] = 666; Array.prototype[Symbol.iterator] = function* () { yield 666 }; Array.prototype.push = Array.prototype.join = () => 666",
    'String.prototype': 'for (const key of Reflect.ownKeys(String.prototype)) { try { String.prototype[key] = () => 666 } catch {} }',
    'JSON and Reflect': 'JSON.stringify = () => "666"; JSON.parse = () => 666; for (const key of Object.getOwnPropertyNames(Reflect)) Reflect[key] = () => 666',
    'Promise.prototype': 'Promise.prototype.then = Promise.prototype.catch = Promise.prototype.finally = () => 666; Promise.resolve = () => 666',
    'Function.prototype': 'Function.prototype.call = Function.prototype.apply = Function.prototype.bind = () => 666',
    'Error and Date': 'Error = TypeError = class { constructor() { return 666 } }; Date = 666; Error.stackTraceLimit = 0',
    'its globals': 'tools = log = input = 666; globalThis.undefined',
  }
  for (const [what, code] of Object.entries(spoils)) {
    test(what, async () => {
      const spoiled = await runProgram(programs, `const { read } = tools\n${code}\nconst answer = await read({ n: 1 })\nreturn 'over'`)
      expect(spoiled.kind).toBe('done')
      expect(Object.keys(Object.prototype)).toEqual([])
      const next = await runProgram(programs, "const { input } = await tools.read({ n: 7 })\nlog('still', [1])\nreturn { n: input.n, keys: Object.keys(Object.prototype), now: Date.now() }")
      expect(next).toMatchObject({ kind: 'done', value: { n: 7, keys: [] }, logged: 'still [1]\n' })
    })
  }

  test('a key __proto__ in what it returns and asks for reaches nobody', async () => {
    const step = await runProgram(programs, `
      const evil = JSON.parse('{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}}}')
      const back = await tools.read(evil)
      return [back, evil]`)
    expect(step).toMatchObject({ kind: 'done' })
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined()
    expect(JSON.stringify(step)).not.toContain('__proto__')
  })

  test('nothing of one program is there for the next', async () => {
    await runProgram(programs, "globalThis.left = 1; Math.left = 1; tools.read.left = 1; Object.prototype.left = 1")
    expect(await runProgram(programs, 'return [typeof left, typeof Math.left, typeof tools.read.left, typeof ({}).left]'))
      .toMatchObject({ value: ['undefined', 'undefined', 'undefined', 'undefined'] })
  })
})
