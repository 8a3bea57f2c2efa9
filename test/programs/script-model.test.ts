import { afterAll, describe, expect, test } from 'vitest'
import type { Message, Model, Reply, ToolOutcome } from '../../src/core/contract.ts'
import { CadreError } from '../../src/core/errors.ts'
import { createPrograms } from '../../src/programs/programs.ts'
import { scriptModel } from '../../src/programs/script-model.ts'
import { never } from './run-program.ts'

const programs = createPrograms({ max: 4, sliceSeconds: 0.5 })
afterAll(() => programs.close())

const modelOf = (code: string, prompt = 'src/a.ts'): Model =>
  scriptModel({ programs, type: { name: 'audit', path: '/agents/audit.md', program: { code, line: 20 } }, tools: ['read', 'ls'], seed: 3, prompt })

/** Plays the session's part: keeps the messages, answers calls, one second a turn. */
class Session {
  readonly messages: Message[] = [{ role: 'user', text: 'src/a.ts' }]
  readonly model: Model
  time: number
  constructor(model: Model, messages: readonly Message[] = [], time = 1000) {
    this.model = model
    this.messages.push(...messages.slice(this.messages.length))
    this.time = time
  }

  async next(signal = never): Promise<Reply> {
    this.time += 1000
    const request = { agent: 'sa-1', turn: 1, time: this.time, system: '', tools: [], messages: this.messages }
    const reply = await this.model.generate(request, { signal, onDelta: () => undefined })
    this.messages.push({ role: 'assistant', text: reply.text, calls: reply.calls, ...(reply.opaque !== undefined && { opaque: reply.opaque }) })
    return reply
  }

  answer(outcomes: readonly ToolOutcome[]): void {
    this.messages.push({ role: 'tool', outcomes }, { role: 'user', text: 'a message in between', synthetic: 'steering' })
  }

  /** Turn by turn to the last reply; every call is answered with its own input. */
  async run(turns = Infinity): Promise<Reply> {
    for (let turn = 1; ; turn += 1) {
      const reply = await this.next()
      if (reply.calls.length === 0 || turn === turns) return reply
      this.answer(reply.calls.map((call) => ({ callId: call.id, tool: call.name, ok: true, text: JSON.stringify(call.input) })))
    }
  }
}

describe('PRG-01 a program stands in for a language model', () => {
  test('its calls are the reply, its return value the last one', async () => {
    const session = new Session(modelOf("const a = await tools.read({ path: prompt }); const [b] = await Promise.all([tools.ls(), tools.ls({ path: 'b' })]); return { a, b }"))
    const first = await session.next()
    expect(first)
      .toMatchObject({ text: '', calls: [{ id: 'p1', name: 'read', input: { path: 'src/a.ts' }, local: false }], model: 'script', usage: { input: 0, output: 0 } })
    session.answer([{ callId: 'p1', tool: 'read', ok: true, text: '{"lines":3}' }])
    expect((await session.next()).calls.map(({ id }) => id)).toEqual(['p2', 'p3'])
    session.answer([{ callId: 'p3', tool: 'ls', ok: true, text: '3' }, { callId: 'p2', tool: 'ls', ok: true, text: 'two' }])
    expect(await session.next()).toMatchObject({ text: '{"a":{"lines":3},"b":"two"}', value: { a: { lines: 3 }, b: 'two' }, calls: [] })
    await expect(session.next()).rejects.toThrow('/agents/audit.md has returned: it cannot be asked again')
    await session.model.close?.()
  })

  test('PRG-02 a text is given as it is, nothing as the log', async () => {
    expect(await new Session(modelOf("return 'two\\nlines'")).run()).toMatchObject({ text: 'two\nlines', value: 'two\nlines' })
    const logged = await new Session(modelOf("log('one'); await tools.ls(); log('two')")).run()
    expect(logged.text).toBe('one\ntwo')
    expect(logged).not.toHaveProperty('value')
    expect(await new Session(modelOf('return null')).run()).toMatchObject({ text: 'null', value: null })
  })

  test('PRG-06 calls nobody waits for are named in a note', async () => {
    const reply = await new Session(modelOf("for (let n = 0; n < 12; n += 1) tools.read({ path: 'x'.repeat(n * 40) }); return 1")).run()
    expect(reply.notes).toHaveLength(1)
    expect(reply.notes?.[0]).toMatch(/^Calls still pending when the program returned were cancelled: read \{"path":""\}; .*…; and 2 more$/)
    expect((await new Session(modelOf('await tools.ls(); return 1')).run()).notes).toBeUndefined()
  })

  test('PRG-06 an error names file and line, also where the line is not known', async () => {
    const failed = new Session(modelOf('\nconst x = null\nreturn x.y')).run()
    await expect(failed).rejects.toThrow("/agents/audit.md:22: TypeError: Cannot read properties of null (reading 'y')")
    await expect(failed).rejects.toMatchObject({ code: 'PROGRAM' })
    await expect(new Session(modelOf('return 1n')).run())
      .rejects.toThrow(/^\/agents\/audit\.md:20: TypeError: the program's return value is not JSON/)
  })

  test('PRG-04 a broken limit is named', async () => {
    await expect(new Session(modelOf('for (;;);')).run()).rejects.toThrow(new CadreError('PROGRAM', 'Program stopped: running time.'))
    await expect(new Session(modelOf('for (let i = 0; i < 257; i += 1) tools.ls({ i })')).run())
      .rejects.toThrow(new CadreError('PROGRAM', 'Program stopped: pending calls.'))
  })

  test('a stop rejects with its reason and frees the program', async () => {
    const stop = new AbortController()
    const session = new Session(modelOf('for (;;);'))
    setTimeout(() => stop.abort(new CadreError('STOPPED', 'killed by the user')), 50)
    await expect(session.next(stop.signal)).rejects.toThrow('killed by the user')
    await session.model.close?.()
    const waiting = new Session(modelOf('await tools.ls()'))
    await waiting.next()
    await waiting.model.close?.()
    await expect.poll(() => programs.stats().busy).toBe(0)
  })
})

describe('PRG-07 a resumed program runs from its start with journaled outcomes', () => {
  const code = `
    const times = [Date.now()]
    for (let i = 0; i < 4; i += 1) {
      await Promise.all([tools.read({ i, dice: Math.random() }), tools.ls({ at: Date.now() })])
      times.push(Date.now())
    }
    return times`

  for (const turns of [1, 2, 3, 4]) {
    test(`resumed after turn ${turns}, with another clock, it goes on as if nothing had happened`, async () => {
      const whole = await new Session(modelOf(code)).run()
      const broken = new Session(modelOf(code))
      await broken.run(turns)
      await broken.model.close?.()
      const last = broken.messages.at(-1)
      if (last?.role === 'assistant') broken.answer(last.calls.map((call) => ({ callId: call.id, tool: call.name, ok: true, text: '0' })))
      const resumed = new Session(modelOf(code), broken.messages, broken.time + 1_000_000)
      const reply = await resumed.run()
      const times = reply.value as number[]
      const before = whole.value as number[]
      expect(times.slice(0, turns)).toEqual(before.slice(0, turns))
      expect(times[turns]).toBe(broken.time + 1_001_000)
    })
  }

  for (const [name, changed, call] of [
    ['asks for another tool', code.replace("tools.ls({ at", "tools.read({ at"), 2],
    ['asks with another input', code.replace('{ i, dice', '{ i: i === 1 ? 7 : i, dice'), 3],
    ['asks for more', code.replace('await Promise.all([', 'await Promise.all([tools.ls({ i }), '), 1],
    ['asks for less', code.replace(', tools.ls({ at: Date.now() })', ''), 2],
    ['returns at once', 'return 1', 1],
  ] as const) {
    test(`one that ${name} is not deterministic at call ${call}`, async () => {
      const recorded = new Session(modelOf(code))
      await recorded.run(3)
      await recorded.model.close?.()
      const resumed = new Session(modelOf(changed), recorded.messages)
      await expect(resumed.run()).rejects.toThrow(new CadreError('PROGRAM', `Program is not deterministic at call ${call}.`))
      await resumed.model.close?.()
    })
  }
})
