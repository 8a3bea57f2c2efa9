import { afterAll, describe, expect, test } from 'vitest'
import { createPrograms } from '../../src/programs/programs.ts'
import { never, runProgram, startOf } from './run-program.ts'

const programs = createPrograms({ max: 4 })
afterAll(() => programs.close())

const valueOf = async (code: string, more = {}) => {
  const step = await runProgram(programs, code, more)
  expect(step).toMatchObject({ kind: 'done' })
  return step.kind === 'done' ? step.value : undefined
}

describe('PRG-01 a program asks for tools turn by turn', () => {
  test('calls made side by side are one turn, calls made after an await the next', async () => {
    const { program, step } = await programs.begin(startOf(`
      const [a, b] = await Promise.all([tools.read({ path: 'a' }), tools.ls()])
      const c = await tools.read({ path: a.next })
      return [a, b, c]`), never)
    expect(step)
      .toEqual({ kind: 'calls', log: '', calls: [{ id: 1, tool: 'read', input: { path: 'a' } }, { id: 2, tool: 'ls', input: {} }] })
    const second = await program.step([{ id: 1, ok: true, text: '{"next":"c"}' }, { id: 2, ok: true, text: 'plain text' }], 1, never)
    expect(second).toEqual({ kind: 'calls', log: '', calls: [{ id: 3, tool: 'read', input: { path: 'c' } }] })
    const last = await program.step([{ id: 3, ok: true, text: '[1]' }], 2, never)
    expect(last).toEqual({ kind: 'done', log: '', pending: [], value: [{ next: 'c' }, 'plain text', [1]] })
  })

  test('outcomes may come one by one: the program goes on with what it has', async () => {
    const { program } = await programs.begin(startOf(`
      const seen = []
      await Promise.all([1, 2, 3].map(async (n) => { seen.push(await tools.read({ n })); log(seen.length) }))
      return seen`), never)
    expect(await program.step([{ id: 2, ok: true, text: '2' }], 1, never)).toEqual({ kind: 'calls', calls: [], log: '1\n' })
    expect(await program.step([{ id: 3, ok: true, text: '3' }], 1, never)).toEqual({ kind: 'calls', calls: [], log: '2\n' })
    expect(await program.step([{ id: 1, ok: true, text: '1' }, { id: 9, ok: true, text: 'for no call' }], 1, never))
      .toEqual({ kind: 'done', value: [2, 3, 1], pending: [], log: '3\n' })
  })

  test('256 calls may be pending, and a program may make thousands one after another', async () => {
    expect(await valueOf('return (await Promise.all(Array.from({ length: 256 }, (_, i) => tools.read({ i })))).length')).toBe(256)
    const long = await runProgram(programs, 'for (let i = 0; i < 2000; i += 1) await tools.read({ i })\nreturn "end"')
    expect(long).toMatchObject({ kind: 'done', value: 'end', turns: 2001 })
  })

  test('a stopped program frees its process, whatever it is doing', async () => {
    const own = createPrograms({ max: 1 })
    const stop = new AbortController()
    const looping = own.begin(startOf('for (;;);'), stop.signal)
    const queued = new AbortController()
    const behind = own.begin(startOf('return 1'), queued.signal)
    setTimeout(() => queued.abort(new Error('no longer wanted')), 20)
    await expect(behind).rejects.toThrow('no longer wanted')
    stop.abort(new Error('stopped by a test'))
    await expect(looping).rejects.toThrow('stopped by a test')
    const waiting = await own.begin(startOf('await tools.read({})'), never)
    await waiting.program.close()
    await waiting.program.close()
    expect(await runProgram(own, 'return 2')).toMatchObject({ kind: 'done', value: 2 })
    await expect.poll(() => own.stats().busy).toBe(0)
    await own.close()
    expect(own.stats().processes).toBe(0)
    await expect(own.begin(startOf('return 1'), never)).rejects.toThrow('after its programs were closed')
  })

  test('more programs than processes wait their turn', async () => {
    const own = createPrograms({ max: 2 })
    own.warm(5)
    const steps = await Promise.all(Array.from({ length: 12 }, (_, i) => runProgram(own, `const x = await tools.read({}); return ${i}`)))
    expect(steps.map((step) => step.kind === 'done' && step.value)).toEqual(Array.from({ length: 12 }, (_, i) => i))
    expect(own.stats().processes).toBeLessThanOrEqual(2)
    await own.close()
  })
})

describe('PRG-02 what a program sees', () => {
  test('its prompt, and the prompt parsed when it is JSON', async () => {
    expect(await valueOf('return [prompt, input.file]', { prompt: '{"file":"a.ts"}' })).toEqual(['{"file":"a.ts"}', 'a.ts'])
    expect(await valueOf('return [prompt, input === undefined]', { prompt: 'look at a.ts' })).toEqual(['look at a.ts', true])
    expect(await valueOf("const input = { own: 1 }; let prompt = 'own'; return [input.own, prompt]")).toEqual([1, 'own'])
  })

  test('exactly its granted tools', async () => {
    expect(await valueOf('return [Object.keys(tools), typeof tools.bash, Object.isFrozen(tools), String(Object.getPrototypeOf(tools))]', { tools: ['read', 'mcp__a__b-c'] }))
      .toEqual([['read', 'mcp__a__b-c'], 'undefined', true, 'null'])
    expect(await runProgram(programs, 'tools.bash({})'))
      .toMatchObject({ kind: 'error', message: 'TypeError: tools.bash is not a function', line: 7 })
  })

  test('a failed outcome throws its text, at the line of the call', async () => {
    const fail = () => ({ ok: false, text: 'Error: no such file: a' })
    expect(await runProgram(programs, "try { await tools.read({ path: 'a' }) } catch (e) { return [e.message, e instanceof Error] }", {}, fail))
      .toMatchObject({ value: ['Error: no such file: a', true] })
    expect(await runProgram(programs, "const a = 1\nconst get = async () => {\n  await tools.read({ path: 'a' })\n}\nawait get()", {}, fail))
      .toMatchObject({ kind: 'error', message: 'Error: no such file: a', line: 9 })
    expect(await runProgram(programs, "tools.read({ path: 'a' }); await tools.ls(); return 'a dropped call is no fault'", {}, ({ tool }) => ({ ok: tool === 'ls', text: '1' })))
      .toMatchObject({ kind: 'done', value: 'a dropped call is no fault' })
  })

  test('no Node, import, fetch, timer, thread, clock or collector', async () => {
    const names = ['process', 'require', 'module', 'Buffer', 'global', 'fetch', 'setTimeout', 'setInterval', 'setImmediate', 'queueMicrotask', 'WebAssembly', 'SharedArrayBuffer', 'Atomics',
      'performance', 'crypto', 'Intl', 'Temporal', 'WeakRef', 'FinalizationRegistry', 'console', 'gc', 'structuredClone', 'XMLHttpRequest', 'ShadowRealm', 'navigator']
    expect(await valueOf(`return ${JSON.stringify(names)}.filter((name) => name in globalThis)`)).toEqual([])
    expect(await runProgram(programs, "await import('node:fs')")).toMatchObject({ kind: 'error', line: 7 })
  })

  test('a clock that only its turns move, and dice that its seed throws', async () => {
    const code = 'const a = Date.now(); const r = [Math.random(), Math.random()]; await tools.read({}); return { a, b: Date.now(), c: new Date().getTime(), d: +new Date(5), e: String(new Date()) === Date(), f: new Date().constructor.now(), r }'
    const first = await valueOf(code)
    expect(first).toMatchObject({ a: 1_700_000_000_000, b: 1_700_000_001_000, c: 1_700_000_001_000, d: 5, e: true, f: 1_700_000_001_000 })
    expect(await valueOf(code)).toEqual(first)
    expect(await valueOf(code, { seed: 43 })).not.toEqual(first)
    expect(await valueOf('return new Date(2024, 0, 1).toISOString()')).toBe('2024-01-01T00:00:00.000Z')
    const many = await valueOf('return Array.from({ length: 5000 }, Math.random)')
    expect(new Set(many as number[]).size).toBeGreaterThan(4990)
    expect((many as number[]).every((n) => n >= 0 && n < 1)).toBe(true)
    expect((many as number[]).reduce((sum, n) => sum + n, 0) / 5000).toBeCloseTo(0.5, 1)
  })

  test('log takes anything and comes back step by step', async () => {
    const step = await runProgram(programs, "log('a', 1, { b: [2] }, undefined); await tools.ls(); log(null, () => 1)")
    expect(step).toMatchObject({ kind: 'done', value: undefined, logged: 'a 1 {"b":[2]} undefined\nnull () => 1\n', log: 'null () => 1\n' })
  })
})

describe('PRG-06 errors name the line of the Markdown file', () => {
  for (const [name, code, line, message] of [
    ['thrown in a function', 'const f = () => {\n  null.x\n}\nf()', 8, "TypeError: Cannot read properties of null (reading 'x')"],
    ['thrown after an await', '\n\nawait tools.read({})\nthrow new Error("late")', 10, 'late'],
    ['a syntax error', 'const a = 1\n\nlet a = 2', 9, "SyntaxError: Identifier 'a' has already been declared"],
    ['code that ends too soon', 'if (true) {', 8, "SyntaxError: Unexpected token ')'"],
    ['a rejection nobody handles', 'tools.ls()\nPromise.reject(new RangeError("dropped"))', 8, 'a rejected promise was never handled: RangeError: dropped'],
    ['a thrown string', 'throw "words"', null, 'words'],
    ['a thrown object', 'throw { code: 5 }', null, '{"code":5}'],
    ['nothing at all', 'throw undefined', null, 'undefined'],
    ['an undeclared variable', 'x = 1', 7, 'ReferenceError: x is not defined'],
  ] as const) {
    test(name, async () => {
      expect(await runProgram(programs, code)).toMatchObject({ kind: 'error', line, message })
    })
  }

  test('calls still pending when it returns are named, also those never handed out', async () => {
    const step = await runProgram(programs, "tools.read({ path: 'a' }); tools.ls(); return 1")
    expect(step)
      .toMatchObject({ kind: 'done', value: 1, turns: 1, pending: [{ id: 1, tool: 'read', input: { path: 'a' } }, { id: 2, tool: 'ls', input: {} }] })
  })
})
