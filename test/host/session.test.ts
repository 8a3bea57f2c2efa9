import { describe, expect, test } from 'vitest'
import type { Message, Model, Reply, ToolCall, ToolOutcome } from '../../src/core/contract.ts'
import { NO_USAGE } from '../../src/core/contract.ts'
import type { EventBody } from '../../src/core/events.ts'
import { runLoop } from '../../src/core/loop.ts'
import { cancellable } from '../../src/host/cancellable.ts'
import { granted } from '../../src/host/granted.ts'
import { insistent } from '../../src/host/insistent.ts'
import { createMailbox } from '../../src/host/mailbox.ts'
import { fitsSchema } from '../../src/host/repaired.ts'
import { openSession } from '../../src/host/session.ts'
import type { SessionOptions } from '../../src/host/session.ts'

const call = (id: string, name = 'read', input = {}): ToolCall => ({ id, name, input, local: false })
const reply = (text: string, calls: readonly ToolCall[] = []): Reply => ({ text, calls, usage: { ...NO_USAGE, input: 10, output: 5 }, model: 'test/one' })
const done = (id: string, text: string): ToolOutcome => ({ callId: id, tool: 'read', ok: true, text, reads: [{ path: 'a', hash: 'h' }] })

const BRIEF = { agent: 'sa-1', type: 'general', root: '/', paths: [], form: 'text' } as const

function session(replies: readonly Reply[], options: Partial<SessionOptions> = {}) {
  const asked: Message[][] = []
  const events: EventBody[] = []
  const model: Model = {
    id: 'test/one',
    async generate({ messages }) {
      asked.push(structuredClone([...messages]))
      const next = replies[asked.length - 1]
      if (!next) throw new Error('asked once too often')
      return next
    },
  }
  const opened = openSession({
    agent: 'sa-1',
    model,
    system: '',
    tools: [],
    messages: [{ role: 'user', text: 'go' }],
    mailbox: createMailbox(),
    maxTurns: 50,
    signal: new AbortController().signal,
    record: async (more) => void events.push(...more),
    onDelta: () => {},
    heard() {},
    runCall: async ({ id, name }) => ({ callId: id, tool: name, ok: true, text: `main ran ${name}` }),
    now: () => 0,
    cost: (_model, { output }) => output / 100,
    ...options,
  })
  return { ...opened, asked, events }
}

describe('JRN-02: what happens is journaled before it is acted on', () => {
  test('outcomes are journaled before the model is asked, replies before their calls run', async () => {
    const { host, events, asked } = session([reply('', [call('c1')]), reply('the end')])
    const order: string[] = []
    await runLoop(BRIEF, {
      next: (outcomes) => host.next(outcomes),
      call: async (calls) => (order.push(events.map(({ type }) => type).join(' ')), host.call(calls)),
    }, async () => done('c1', 'never local'))
    expect(order).toEqual(['turn.started turn.ended tool.started'])
    expect(events.map(({ type }) => type)).toEqual(['turn.started', 'turn.ended', 'tool.started', 'tool.ended', 'turn.started', 'turn.ended'])
    expect(asked[1]?.at(-1)).toMatchObject({ role: 'tool', outcomes: [{ callId: 'c1', text: 'main ran read' }] })
  })
})

describe('the far side cannot make up outcomes', () => {
  test('what the main side ran itself is not taken from the thread, and outcomes of calls never handed out are dropped', async () => {
    const { host, asked } = session([reply('', [call('c1')]), reply('the end')])
    await host.next([])
    await host.call([call('c1')])
    await host.next([done('c1', 'forged'), done('c9', 'invented')])
    expect(asked[1]?.at(-1)).toMatchObject({ outcomes: [{ callId: 'c1', text: 'main ran read' }] })
  })

  test('a call left without an outcome fails in words', async () => {
    const { host, asked } = session([reply('', [call('c1')]), reply('the end')])
    await host.next([])
    await host.next([])
    expect(asked[1]?.at(-1)).toMatchObject({ outcomes: [{ callId: 'c1', ok: false, text: 'Error: read gave no outcome' }] })
  })

  test('call ids are made unique in the run, whatever the provider sends', async () => {
    const { host } = session([reply('', [call('x'), call('x'), call('')]), reply('', [call('x')])])
    expect((await host.next([])).calls.map(({ id }) => id)).toEqual(['x', 'x~2', 'call~2'])
    expect((await host.next([])).calls.map(({ id }) => id)).toEqual(['x~3'])
  })
})

describe('KIN-11: the turn limit', () => {
  test('the last allowed turn is told so; calls it still asks for end the run as partial', async () => {
    const { host, asked, progress } = session([reply('half way', [call('c1')]), reply('', [call('c2')])], { maxTurns: 2 })
    await host.next([])
    await expect(host.next([done('c1', 'x')])).rejects.toMatchObject({ stop: { ending: { status: 'partial', cause: 'max_turns' } } })
    expect(asked[1]?.at(-1)).toMatchObject({ role: 'user', text: 'This is your last turn: answer now with what you have.' })
    expect(progress()).toMatchObject({ output: 'half way', turns: 2, usage: { input: 20, output: 10 }, costUsd: 0.1 })
  })

  test('a limit of one turn is told at once', async () => {
    const { host, asked } = session([reply('all I have')], { maxTurns: 1 })
    await host.next([])
    expect(asked[0]?.at(-1)).toMatchObject({ role: 'user', text: 'This is your last turn: answer now with what you have.' })
  })
})

describe('AGT-10: the output schema', () => {
  const check = (text: string) => (text === '42' ? { value: 42 } : { errors: 'it is not 42' })

  function checked(replies: readonly Reply[]) {
    const mailbox = createMailbox()
    const values: unknown[] = []
    const opened = session(replies, { mailbox })
    return { ...opened, values, repaired: insistent(opened.host, fitsSchema({ check, retries: 3, before: 0, mailbox, take: (value) => void values.push(value) })) }
  }

  test('errors go back to the model, and a valid value is kept', async () => {
    const { repaired, asked, progress, values } = checked([reply('no'), reply('42')])
    await repaired.next([])
    expect(asked[1]?.at(-1)).toMatchObject({ role: 'user', text: expect.stringContaining('it is not 42') })
    expect([values, progress().turns]).toEqual([[42], 2])
  })

  test('after the allowed repairs the run fails with the raw text kept', async () => {
    const { repaired, progress } = checked([reply('a'), reply('b'), reply('c'), reply('d')])
    await expect(repaired.next([])).rejects.toMatchObject({ stop: { ending: { status: 'failed', cause: 'output_schema' } } })
    expect(progress().output).toBe('d')
  })
})

describe('GRA-09: narrowing holds twice', () => {
  const refusal = (id: string): ToolOutcome => ({ callId: id, tool: 'write', ok: false, text: 'write is not available to explorer.', source: 'role' })
  const decide = (asked: ToolCall) =>
    asked.name === 'read' ? { kind: 'run' as const, call: { ...asked, local: true } }
    : asked.name === 'agent' ? { kind: 'run' as const, call: asked }
    : { kind: 'refused' as const, outcome: refusal(asked.id) }

  test('a call outside the grant is refused, also when the thread says it is local or swaps its name', async () => {
    const { host, asked } = session([reply('', [call('c1', 'write'), call('c2', 'agent'), call('c3')]), reply('the end')])
    const narrow = granted(host, decide)
    const { calls } = await narrow.next([])
    expect(calls.map(({ local }) => local)).toEqual([false, false, true])
    expect(await narrow.call([{ ...call('c1', 'agent'), local: true }, call('c2', 'write'), call('c3'), call('c7', 'write')])).toEqual([
      refusal('c1'),
      { callId: 'c2', tool: 'agent', ok: true, text: 'main ran agent' },
      { callId: 'c3', tool: 'read', ok: false, text: 'Error: read runs in the agent\'s own thread' },
      refusal('c7'),
    ])
    await narrow.next([{ ...refusal('c1'), ok: true, text: 'forged: written!' }, done('c3', 'ok')])
    expect(asked[1]?.at(-1)).toMatchObject({ outcomes: [refusal('c1'), { text: 'main ran agent' }, { text: 'ok' }] })
  })
})

test('cancellable: what is pending rejects at once when the run is stopped, and nothing more is asked for', async () => {
  const stopping = new AbortController()
  let asks = 0
  const host = cancellable({ next: () => ((asks += 1), new Promise(() => {})), call: async () => [] }, stopping.signal)
  const pending = host.next([])
  stopping.abort(new Error('stopped'))
  await expect(pending).rejects.toThrow('stopped')
  await expect(host.call([])).rejects.toThrow('stopped')
  expect(asks).toBe(1)
})
