import { describe, expect, test } from 'vitest'
import type { Message } from '../../src/core/contract.ts'
import { ask, modelsAt, PROVIDERS, server, shown } from './ask.ts'

describe.each(PROVIDERS)('a reply over the wire of %s', (provider) => {
  const id = `${provider}/scripted`

  test('has the text, streamed piece by piece for display (MOD-06)', async () => {
    const { url } = await server(() => ({ text: 'One two three four', chunks: 4 }))
    const { reply, deltas } = await ask(modelsAt(url).open(id))
    expect(reply.text).toBe('One two three four')
    expect(deltas.length).toBe(4)
    expect(shown(deltas)).toBe(reply.text)
    expect(reply.calls).toEqual([])
  })

  test('carries the model and the usage the provider reports, cached tokens apart (MOD-06, BUD-06)', async () => {
    const { url } = await server(() => ({ text: 'x', model: 'scripted-2026-01-01', usage: { input: 100, output: 20, cacheRead: 300 } }))
    const { reply } = await ask(modelsAt(url).open(id))
    expect(reply.model).toBe(`${provider}/scripted-2026-01-01`)
    expect(reply.usage).toEqual({ input: 100, output: 20, cacheRead: 300, cacheWrite: 0 })
  })

  test('has parallel tool calls in their order, with their input parsed', async () => {
    const calls = ['a.ts', 'b.ts', 'ü"\\.ts'].map((path) => ({ name: 'read', input: { path } }))
    const { url } = await server(() => ({ text: 'Reading', calls }))
    const { reply } = await ask(modelsAt(url).open(id))
    expect(reply.text).toBe('Reading')
    expect(reply.calls.map(({ name, input }) => ({ name, input }))).toEqual(calls)
    expect(new Set(reply.calls.map((call) => call.id)).size).toBe(3)
    expect(reply.calls.every((call) => !call.local)).toBe(true)
  })

  for (const raw of ['{"path": "a.ts', 'path=a.ts', '[1', '{"path": undefined}']) {
    test(`keeps the arguments ${raw} as the text they are, and sends them back as an object`, async () => {
      const { url, requests } = await server(({ turn }) => (turn === 1 ? { calls: [{ name: 'read', input: {}, raw }] } : { text: 'ok' }))
      const model = modelsAt(url).open(id)
      const { reply } = await ask(model)
      expect(reply.calls[0]?.input).toBe(raw)
      const call = reply.calls[0] ?? { id: '', name: '', input: null, local: false }
      await ask(model, {
        turn: 2,
        messages: [
          { role: 'user', text: 'Hello' },
          { role: 'assistant', text: reply.text, calls: reply.calls },
          { role: 'tool', outcomes: [{ callId: call.id, tool: 'read', ok: false, text: 'Error: path is missing' }] },
        ],
      })
      expect(sentInput(requests[1]?.body)).toEqual({ invalid_arguments: raw })
    })
  }

  test('of a server that answers a streaming request with plain JSON is read all the same, with one request', async () => {
    const { url, requests } = await server(() =>
      ({ text: 'Plain', calls: [{ name: 'read', input: { path: 'a' } }], usage: { input: 5, output: 7 }, plain: true }))
    const { reply, deltas } = await ask(modelsAt(url).open(id))
    expect(reply).toMatchObject({ text: 'Plain', usage: { input: 5, output: 7, cacheRead: 0, cacheWrite: 0 }, model: id })
    expect(reply.calls).toMatchObject([{ name: 'read', input: { path: 'a' } }])
    expect(shown(deltas)).toBe('Plain')
    expect(requests.length).toBe(1)
  })

  test('that was cut at the output limit says so in a note', async () => {
    const { url } = await server(() => ({ text: 'Half a sent', cut: true }))
    expect((await ask(modelsAt(url).open(id))).reply.notes).toEqual(['The last reply was cut at the output limit of the model.'])
  })

  test('has call ids that no earlier call has, whatever the provider says', async () => {
    const { url } = await server(() => ({ calls: [{ id: 'same', name: 'read', input: {} }, { id: 'other', name: 'read', input: {} }] }))
    const messages: readonly Message[] = [
      { role: 'user', text: 'Hello' },
      { role: 'assistant', text: '', calls: [{ id: 'same', name: 'read', input: {}, local: false }] },
      { role: 'tool', outcomes: [{ callId: 'same', tool: 'read', ok: true, text: 'x' }] },
    ]
    const ids = (await ask(modelsAt(url).open(id), { turn: 2, messages })).reply.calls.map((call) => call.id)
    expect(ids).toEqual(['same_2_1', 'other'])
  })

  test('the provider sees system prompt, history, results and turns as they are', async () => {
    const { url, requests } = await server(() => ({ text: 'ok' }))
    const messages: readonly Message[] = [
      { role: 'user', text: 'First' },
      {
        role: 'assistant',
        text: 'Look',
        calls: [
          { id: 'call:1', name: 'read', input: { path: 'a' }, local: true },
          { id: 'c2', name: 'read', input: { path: 'b' }, local: true },
        ],
      },
      {
        role: 'tool',
        outcomes: [
          { callId: 'call:1', tool: 'read', ok: true, text: 'content of a' },
          { callId: 'c2', tool: 'read', ok: false, text: 'Error: no b' },
        ],
      },
      { role: 'user', text: '', synthetic: 'nothing to say' },
      { role: 'user', text: 'And now?', synthetic: 'steer' },
    ]
    await ask(modelsAt(url).open(id), { turn: 2, messages })
    expect(requests[0]?.request).toMatchObject({
      system: 'You are a test.',
      turn: 2,
      lastUserText: 'And now?',
      toolResults: [{ id: 'call_1', name: 'read', text: 'content of a' }, { id: 'c2', name: 'read', text: 'Error: no b' }],
    })
    expect(requests[0]?.body['model']).toBe('scripted')
  })

  test('without system prompt and tools is asked for without either', async () => {
    const { url, requests } = await server(() => ({ text: 'ok' }))
    await ask(modelsAt(url).open(id), { system: '', tools: [] })
    expect(requests[0]?.body).not.toHaveProperty('tools')
    expect(requests[0]?.request?.system).toBe('')
  })
})

/** The input of the first call in the history of a request, on either wire. */
function sentInput(body: unknown): unknown {
  const pattern = /"(?:input|arguments)":("(?:[^"\\]|\\.)*"|\{"invalid_arguments":"(?:[^"\\]|\\.)*"\})/
  const value: unknown = JSON.parse(pattern.exec(JSON.stringify(body))?.[1] ?? 'null')
  return typeof value === 'string' ? JSON.parse(value) : value
}

describe('reasoning', () => {
  test('of Anthropic goes back to the same model with its signature, in its place, and to no other model', async () => {
    const { url, requests } = await server(({ turn }) =>
      turn === 1
        ? { reasoning: { text: 'Hm.', signature: 'sig-1' }, text: 'Let me look.', calls: [{ name: 'read', input: { path: 'a' } }] }
        : { text: 'Done' })
    const models = modelsAt(url)
    const { reply, deltas } = await ask(models.open('anthropic/scripted'))
    expect(deltas).toContainEqual({ kind: 'reasoning', text: 'Hm.' })
    expect(reply.text).toBe('Let me look.')
    const messages: readonly Message[] = [
      { role: 'user', text: 'Hello' },
      // Through JSON and back: the journal stands between.
      JSON.parse(JSON.stringify({ role: 'assistant', text: reply.text, calls: reply.calls, opaque: reply.opaque })) as Message,
      { role: 'tool', outcomes: [{ callId: reply.calls[0]?.id ?? '', tool: 'read', ok: true, text: 'A' }] },
    ]
    await ask(models.open('anthropic/scripted'), { turn: 2, messages })
    await ask(models.open('anthropic/other'), { turn: 2, messages })
    await ask(models.open('openai/scripted'), { turn: 2, messages })
    const assistant = (n: number): string =>
      JSON.stringify((requests[n]?.body['messages'] as readonly { role: string }[] | undefined)?.find(({ role }) => role === 'assistant'))
    expect(assistant(1)).toMatch(/"thinking":"Hm\.","signature":"sig-1".*Let me look\..*tool_use/)
    expect(assistant(2)).not.toContain('Hm.')
    expect(assistant(2)).toMatch(/Let me look\..*tool_use/)
    expect(assistant(3)).not.toContain('Hm.')
  })

  test('without text is kept too: the newest models sign what they do not show', async () => {
    const { url, requests } = await server(({ turn }) =>
      (turn === 1 ? { reasoning: { text: '', signature: 'sig-2' }, calls: [{ name: 'read', input: {} }] } : { text: 'Done' }))
    const model = modelsAt(url).open('anthropic/scripted')
    const { reply } = await ask(model)
    await ask(model, {
      turn: 2,
      messages: [
        { role: 'user', text: 'Hello' },
        { role: 'assistant', text: '', calls: reply.calls, ...(reply.opaque === undefined ? {} : { opaque: reply.opaque }) },
        { role: 'tool', outcomes: [{ callId: reply.calls[0]?.id ?? '', tool: 'read', ok: true, text: 'A' }] },
      ],
    })
    expect(requests[1]?.text).toContain('"signature":"sig-2"')
  })

  test('of a compatible server goes back as reasoning_content', async () => {
    const { url, requests } = await server(({ turn }) => (turn === 1 ? { reasoning: { text: 'Hm.' }, text: 'Yes' } : { text: 'Done' }))
    const model = modelsAt(url).open('compatible/scripted')
    const { reply } = await ask(model)
    const opaque = reply.opaque === undefined ? {} : { opaque: reply.opaque }
    await ask(model, { turn: 2,
      messages: [{ role: 'user', text: 'A' }, { role: 'assistant', text: reply.text, calls: [], ...opaque }, { role: 'user', text: 'B' }] })
    expect(requests[1]?.text).toContain('"reasoning_content":"Hm."')
  })

  test('a record that does not fit the message is left out, never mixed up', async () => {
    const { url, requests } = await server(() => ({ text: 'Done' }))
    for (const parts of [[{ reasoning: 'R' }, { text: 99 }], [{ call: 'unknown' }], [null], 'x', [{ reasoning: 'R' }]]) {
      await ask(modelsAt(url).open('anthropic/scripted'), {
        messages: [{ role: 'user', text: 'A' }, { role: 'assistant', text: 'B', calls: [], opaque: { by: 'anthropic/scripted', parts } },
          { role: 'user', text: 'C' }],
      })
    }
    expect(requests.length).toBe(5)
    for (const { body } of requests) {
      expect((body['messages'] as readonly unknown[])[1]).toEqual({ role: 'assistant', content: [{ type: 'text', text: 'B' }] })
    }
  })
})

describe('effort', () => {
  const efforts = ['low', 'high', 'max', 8_000] as const
  test.each(efforts)('%s reaches Anthropic as thinking', async (effort) => {
    const { url, requests } = await server(() => ({ text: 'ok' }))
    await ask(modelsAt(url).open('anthropic/claude-sonnet-4-5'), { effort })
    expect(requests[0]?.body['thinking']).toMatchObject(effort === 8_000 ? { type: 'enabled', budget_tokens: 8_000 } : { type: 'enabled' })
  })

  const words = [['low', 'low'], ['high', 'high'], [2_000, 'low'], [9_000, 'medium'], [50_000, 'high']] as const
  test.each(words)('%s reaches a compatible server as %s', async (effort, word) => {
    const { url, requests } = await server(() => ({ text: 'ok' }))
    await ask(modelsAt(url).open('compatible/scripted'), { effort })
    expect(requests[0]?.body['reasoning_effort']).toBe(word)
  })
})
