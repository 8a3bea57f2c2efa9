import { describe, expect, test } from 'vitest'
import { CadreError } from '../../src/core/errors.ts'
import type { Pause } from '../../src/models/models.ts'
import { bodyLimit } from '../../src/models/body-limit.ts'
import { ask, modelsAt, PROVIDERS } from './ask.ts'
import { rawServer, writeForEver } from './raw-server.ts'

const SSE = 'text/event-stream'
const JSON_TYPE = 'application/json'
const KB = 'x'.repeat(1_000)
const openaiDelta = (delta: object): string =>
  `data: ${JSON.stringify({ id: 'x', created: 1, model: 'm', choices: [{ index: 0, delta }] })}\n\n`
const anthropicDelta = (delta: object): string =>
  `event: content_block_delta\ndata: ${JSON.stringify({ type: 'content_block_delta', index: 0, delta })}\n\n`
const anthropicStart = (block: object): string =>
  `data: ${JSON.stringify({ type: 'message_start', message: { id: 'm', model: 'm', usage: { input_tokens: 7, output_tokens: 1 } } })}\n\n` +
  `data: ${JSON.stringify({ type: 'content_block_start', index: 0, content_block: block })}\n\n`

/** What never ends: how it begins, what is repeated, and what the error says of it. */
const ENDLESS: readonly (readonly [name: string, status: number, type: string, head: string, piece: string, said: string])[] = [
  ['an event of one line', 200, SSE, 'data: {"x":"', KB, 'one event of the streamed reply is over 4 MB'],
  ['an event of many lines', 200, SSE, '', `data: ${KB}\n`, 'one event of the streamed reply is over 4 MB'],
  ['a comment', 200, SSE, ': ', KB, 'one event of the streamed reply is over 4 MB'],
  ['an error body', 400, JSON_TYPE, '{"error":{"message":"', KB, 'the body of the answer is over 4 MB'],
  ['an error body a server would be asked again for', 503, 'text/html', '<html>', `${KB}\n\n`, 'the body of the answer is over 4 MB'],
  ['a plain JSON body', 200, JSON_TYPE, '{"id":"', KB, 'the body of the answer is over 4 MB'],
]

async function failureOf(url: string, provider: string): Promise<{ readonly error: CadreError; readonly pauses: readonly Pause[] }> {
  const pauses: Pause[] = []
  const model = modelsAt(url, { onPause: (pause) => void pauses.push(pause) }).open(`${provider}/m`)
  const error: unknown = await ask(model).catch((caught: unknown) => caught)
  if (!(error instanceof CadreError)) throw new Error('The call did not fail as it should.', { cause: error })
  return { error, pauses }
}

describe.each(PROVIDERS)('over the wire of %s', (provider) => {
  test.each(ENDLESS)('%s that never ends is cut off: one error, one try, a closed line', async (_, status, type, head, piece, said) => {
    const raw = await rawServer(async (response) => {
      response.writeHead(status, { 'content-type': type }).write(head)
      await writeForEver(response, piece.repeat(64))
    })
    const { error, pauses } = await failureOf(raw.url, provider)
    expect(error.code).toBe('MODEL')
    expect(error.message).toContain(`${provider}/m failed: ${said}, and was cut off. `)
    expect(error.message).toContain(`No model writes that much: check the address ${raw.url}`)
    expect(raw.count()).toBe(1)
    expect(pauses).toEqual([])
    await expect.poll(raw.hungUp).toBe(1)
  })
})

describe('a reply whose every event is small', () => {
  const streams: readonly (readonly [name: string, provider: string, head: string, piece: string])[] = [
    ['text', 'openai', '', openaiDelta({ content: KB })],
    ['text', 'anthropic', anthropicStart({ type: 'text', text: '' }), anthropicDelta({ type: 'text_delta', text: KB })],
    ['reasoning', 'compatible', '', openaiDelta({ reasoning_content: KB })],
    ['arguments of a call', 'openai',
      openaiDelta({ tool_calls: [{ index: 0, id: 'c', type: 'function', function: { name: 'read', arguments: '{"a":"' } }] }),
      openaiDelta({ tool_calls: [{ index: 0, function: { arguments: KB } }] })],
    ['arguments of a call', 'anthropic', anthropicStart({ type: 'tool_use', id: 'c', name: 'read', input: {} }),
      anthropicDelta({ type: 'input_json_delta', partial_json: KB })],
  ]
  test.each(streams)('is cut off when its %s never ends (%s)', async (_, provider, head, piece) => {
    const raw = await rawServer(async (response) => {
      response.writeHead(200, { 'content-type': SSE }).write(head)
      await writeForEver(response, piece.repeat(64))
    })
    const { error } = await failureOf(raw.url, provider)
    expect(error).toMatchObject({ code: 'MODEL' })
    expect(error.message).toContain('the reply is over 4,000,000 characters, and was cut off')
    expect(raw.count()).toBe(1)
    await expect.poll(raw.hungUp).toBe(1)
  })

  test('is cut off when it holds nothing at all, for ever', async () => {
    const raw = await rawServer(async (response) => {
      response.writeHead(200, { 'content-type': SSE })
      await writeForEver(response, `: ${KB}\n\n`.repeat(1_000))
    })
    const { error } = await failureOf(raw.url, 'openai')
    expect(error.message).toContain('the streamed reply is over 64 MB, and was cut off')
    await expect.poll(raw.hungUp).toBe(1)
  })

  test('is whole when only its framing is large: a long reply in small pieces is no flood', async () => {
    const pad = 'p'.repeat(2_000)
    const raw = await rawServer((response) => {
      response.writeHead(200, { 'content-type': SSE })
      response.end(openaiDelta({ content: 'ab', pad }).repeat(4_000) +
        `data: ${JSON.stringify({ choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] })}\n\ndata: [DONE]\n\n`)
    })
    const { reply } = await ask(modelsAt(raw.url).open('compatible/m'))
    expect(reply.text).toBe('ab'.repeat(4_000))
  })
})

test('thousands of calls with the same id are told apart in no more time than others', async () => {
  const call = { id: 'same', type: 'function', function: { name: 'read', arguments: '{}' } }
  const message = { tool_calls: Array.from({ length: 20_000 }, (_, index) => ({ index, ...call })) }
  const raw = await rawServer((response) => void response.writeHead(200, { 'content-type': JSON_TYPE })
    .end(JSON.stringify({ id: 'x', created: 1, model: 'm', choices: [{ index: 0, message, finish_reason: 'stop' }] })))
  const { reply } = await ask(modelsAt(raw.url).open('compatible/m'))
  expect(new Set(reply.calls.map(({ id }) => id)).size).toBe(20_000)
  expect(reply.calls.at(-1)?.id).toBe('same_1_19999')
})

test('a list of models that never ends is a problem of that provider alone', async () => {
  const raw = await rawServer(async (response) => {
    response.writeHead(200, { 'content-type': JSON_TYPE }).write('{"data":[')
    await writeForEver(response, `{"id":"${KB}"},`.repeat(64))
  })
  const listing = (await modelsAt(raw.url).list()).find(({ provider }) => provider === 'compatible')
  expect(listing?.problem).toContain('the body of the answer is over 4 MB')
  await expect.poll(raw.hungUp).toBeGreaterThanOrEqual(1)
})

test('events are told apart wherever a stream is cut into pieces, with LF and CRLF, and a line of one letter is not blank', () => {
  const pass = (line: string, size: number): boolean => {
    const check = bodyLimit('stream')
    const bytes = new TextEncoder().encode(line)
    const whole = new Uint8Array(bytes.length * Math.ceil(4_200_000 / bytes.length))
    for (let at = 0; at < whole.length; at += bytes.length) whole.set(bytes, at)
    try {
      for (let at = 0; at < whole.length; at += size) check(whole.subarray(at, at + size))
      return true
    } catch {
      return false
    }
  }
  for (const size of [997, 1_000, 1_001, 1_002, 1_003, 65_536]) {
    expect(pass(`data: ${'x'.repeat(994)}\n\n`, size)).toBe(true)
    expect(pass(`data: ${'x'.repeat(994)}\r\n\r\n`, size)).toBe(true)
    expect(pass(`data: ${'x'.repeat(994)}\n:\n`, size)).toBe(false)
  }
})
