import { describe, expect, test } from 'vitest'
import type { Reply } from '../../src/core/contract.ts'
import { stableJson } from '../../src/core/json.ts'
import { createModels } from '../../src/models/models.ts'
import { isTooDeep, MAX_NESTING } from '../../src/models/nesting.ts'
import { ReplyReader } from '../../src/models/read-reply.ts'
import { ask, modelsAt, PROVIDERS, server } from './ask.ts'
import { rawServer } from './raw-server.ts'

/** Enough to overflow any stack that goes down level by level. */
const BOTTOMLESS = 50_000

/** `depth` objects, or arrays, in each other. */
const objects = (depth: number): string => `${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`
const arrays = (depth: number): string => '['.repeat(depth) + ']'.repeat(depth)

describe.each(PROVIDERS)('arguments over the wire of %s', (provider) => {
  test.each([['objects', objects], ['arrays', arrays]] as const)('that nest %s deeper than 128 levels stay text', async (_, nest) => {
    for (const [depth, kind] of [[MAX_NESTING, 'object'], [MAX_NESTING + 1, 'string'], [BOTTOMLESS, 'string']] as const) {
      const { url, requests } = await server(({ turn }) =>
        (turn === 1 ? { text: 'Look', calls: [{ name: 'read', input: {}, raw: nest(depth) }], usage: { output: 3 } } : { text: 'ok' }))
      const model = modelsAt(url).open(`${provider}/m`)
      const { reply } = await ask(model)
      const call = reply.calls[0] ?? { id: '', name: '', input: null, local: false }
      expect(typeof call.input).toBe(kind)
      if (kind === 'string') expect(call.input === nest(depth)).toBe(true)
      expect(reply.usage.output).toBe(3)
      expect(() => written(reply)).not.toThrow()
      // The history goes back to the provider with the model's broken call in it.
      const next = await ask(model, {
        turn: 2,
        messages: [
          { role: 'user', text: 'Hello' },
          { role: 'assistant', text: reply.text, calls: reply.calls },
          { role: 'tool', outcomes: [{ callId: call.id, tool: 'read', ok: false, text: 'Error: the input is no object' }] },
        ],
      })
      expect(next.reply.text).toBe('ok')
      expect(requests.length).toBe(2)
    }
  })
})

/** A reply as a journal writes it, also by a walk that goes down level by level. */
const written = (reply: Reply): string => stableJson({ text: reply.text, input: reply.calls[0]?.input, opaque: reply.opaque })

test('arguments that come as JSON and not as text are bounded the same: Google\'s', async () => {
  const part = `{"functionCall":{"name":"read","args":${objects(MAX_NESTING + 1)}},"thoughtSignature":"sig"}`
  const raw = await rawServer((response) => void response.writeHead(200, { 'content-type': 'text/event-stream' })
    .end(`data: {"candidates":[{"content":{"role":"model","parts":[${part}]},"index":0,"finishReason":"STOP"}]}\n\n`))
  const models = createModels({ providers: { google: { type: 'google', baseUrl: raw.url } }, env: { GOOGLE_API_KEY: 'x' }, aliases: {} })
  const { reply } = await ask(models.open('google/m'))
  expect(reply.calls[0]?.input === objects(MAX_NESTING + 1)).toBe(true)
  expect(JSON.stringify(reply.opaque)).toContain('"thoughtSignature":"sig"')
})

test('what a provider wants back of a reply is left out where it is nested too deep, and kept beside it', () => {
  const reader = new ReplyReader([], 1, () => {})
  const deep: unknown = JSON.parse(objects(BOTTOMLESS))
  const values = { deep, signature: 'sig' } as { readonly signature: string }
  reader.push({ type: 'reasoning-start', id: 'r', providerMetadata: { anthropic: values } })
  reader.push({ type: 'reasoning-delta', id: 'r', delta: 'Hm.', providerMetadata: { anthropic: values } })
  reader.push({ type: 'tool-call', toolCallId: 'c', toolName: 'read', input: '{}', providerMetadata: { anthropic: values } })
  const meta = { anthropic: { signature: 'sig' } }
  expect(reader.parts).toEqual([{ reasoning: 'Hm.', meta }, { call: 'c', meta }])
})

test('the check takes broad data, and data that is both', () => {
  expect(isTooDeep(Array.from({ length: 100_000 }, () => ({ a: [1] })))).toBe(false)
  expect(isTooDeep([...Array.from({ length: 1_000 }, () => 0), JSON.parse(arrays(BOTTOMLESS))])).toBe(true)
  for (const plain of [null, 1, 'text', true, undefined, {}, []]) expect(isTooDeep(plain)).toBe(false)
})
