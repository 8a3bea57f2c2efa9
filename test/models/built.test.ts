import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import type { ServerResponse } from 'node:http'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { rolldown } from 'rolldown'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { LIGHT } from '../../scripts/bundle.ts'
import * as source from '../../src/models/models.ts'
import type { Delta } from '../../src/core/contract.ts'
import { KEY, request } from './ask.ts'
import { rawServer } from './raw-server.ts'

const ROOT = join(import.meta.dirname, '..', '..')
const CACHE = join(ROOT, '.cache')
mkdirSync(CACHE, { recursive: true })
const BUILD = mkdtempSync(join(CACHE, 'models-'))

/** The room as the build makes it: the packages with light streams. */
let built: typeof source

beforeAll(async () => {
  const room = await rolldown({
    cwd: ROOT, input: 'src/models/models.ts', platform: 'node', transform: { inject: LIGHT }, checks: { eval: false },
  })
  await room.write({ dir: BUILD, format: 'esm' })
  await room.close()
  built = await import(pathToFileURL(join(BUILD, 'models.js')).href) as typeof source
})

afterAll(() => rmSync(BUILD, { recursive: true, force: true }))

const event = (type: string, data: object = {}): string => `event: ${type}\ndata: ${JSON.stringify({ type, ...data })}\n\n`
const START = event('message_start', { message: { id: 'm', model: 'claude-x', usage: { input_tokens: 9, output_tokens: 1 } } })
const block = (index: number, content: object, ...deltas: readonly object[]): string =>
  event('content_block_start', { index, content_block: content }) +
  deltas.map((delta) => event('content_block_delta', { index, delta })).join('') + event('content_block_stop', { index })
const end = (reason: string): string =>
  event('message_delta', { delta: { stop_reason: reason, stop_sequence: null }, usage: { output_tokens: 20 } }) + event('message_stop')
const TEXT = block(0, { type: 'text', text: '' }, ...['Grüße, ', '世界 ', '🌍'].map((text) => ({ type: 'text_delta', text })))
const THOUGHT = block(0, { type: 'thinking', thinking: '' }, { type: 'thinking_delta', thinking: 'Hm.' }, { type: 'signature_delta', signature: 'sig' })
const CALLS = [1, 2].map((i) =>
  block(i, { type: 'tool_use', id: `t${i}`, name: 'read', input: {} }, ...['{"path":', `"ä${i}.ts"}`].map((partial_json) => ({ type: 'input_json_delta', partial_json }))))
const chat = (...chunks: readonly object[]): string => chunks.map((chunk) => `data: ${JSON.stringify({ id: 'c', created: 1, model: 'm', ...chunk })}\n\n`).join('')
const delta = (content: object): object => ({ choices: [{ index: 0, delta: content }] })
const stop = (reason: string): object => ({ choices: [{ index: 0, delta: {}, finish_reason: reason }], usage: { prompt_tokens: 5, completion_tokens: 7, total_tokens: 12 } })
const gemini = (parts: readonly object[], finishReason?: string): string =>
  `data: ${JSON.stringify({ candidates: [{ content: { role: 'model', parts }, ...(finishReason === undefined ? {} : { finishReason }) }], usageMetadata: { promptTokenCount: 3, candidatesTokenCount: 4 } })}\r\n\r\n`

/** Bodies a provider may send, good ones and others. */
const BODIES: readonly (readonly [name: string, provider: string, body: string])[] = [
  ['text', 'anthropic', START + TEXT + end('end_turn')],
  ['thought and calls', 'anthropic', START + THOUGHT + CALLS.join('') + end('tool_use')],
  ['a text that is cut at the limit', 'anthropic', START + TEXT + end('max_tokens')],
  ['a broken end', 'anthropic', START + TEXT],
  ['an error at once', 'anthropic', event('error', { error: { type: 'overloaded_error', message: 'Overloaded' } })],
  ['an error later', 'anthropic', START + TEXT + event('error', { error: { type: 'overloaded_error', message: 'Overloaded' } })],
  ['no JSON', 'anthropic', `${START}event: content_block_start\ndata: {"type":\n\n`],
  ['nothing', 'anthropic', ''],
  ['an event of no known type', 'anthropic', START + event('surprise') + TEXT + end('end_turn')],
  ['comments and pings', 'anthropic', `: hello\n\n${START}${event('ping')}: still here\n\n${TEXT}${end('end_turn')}`],
  ['text', 'compatible', `${chat(delta({ role: 'assistant', content: 'Grüße, ' }), delta({ content: '世界 🌍' }), stop('stop'))}data: [DONE]\n\n`],
  ['calls', 'compatible', chat(delta({ tool_calls: [{ index: 0, id: 'a', type: 'function', function: { name: 'read', arguments: '{"path":' } }] }),
    delta({ tool_calls: [{ index: 0, function: { arguments: '"a.ts"}' } }] }), stop('tool_calls'))],
  ['an error later', 'compatible', chat(delta({ content: 'x' })) + chat({ error: { message: 'gone', type: 'server_error', code: 500 } })],
  ['text', 'openai', `${chat(delta({ role: 'assistant', content: 'Grüße' }), stop('stop'))}data: [DONE]\n\n`],
  ['an error at once', 'openai', `data: ${JSON.stringify({ error: { message: 'no', type: 'server_error', code: 'x', param: null } })}\n\n`],
  ['an error later', 'openai', chat(delta({ content: 'x' })) + `data: ${JSON.stringify({ error: { message: 'no', type: 'server_error', code: 'x', param: null } })}\n\n`],
  ['nothing', 'openai', ''],
  ['text', 'google', gemini([{ text: 'Grüße, ' }]) + gemini([{ text: '世界 🌍' }], 'STOP')],
  ['calls', 'google', gemini([{ functionCall: { name: 'read', args: { path: 'ä' } } }], 'STOP')],
  ['no JSON', 'google', 'data: {"candidates"\r\n\r\n'],
]

/** So few bytes that pieces end inside events, lines and letters. */
const PIECE_BYTES = 7

/** How a body arrives: whole, in small pieces, or with a line that breaks. */
const WAYS = {
  'at once': (response: ServerResponse, body: string) => void response.end(body),
  'in small pieces': async (response: ServerResponse, body: string) => {
    const bytes = Buffer.from(body)
    for (let at = 0; at < bytes.length; at += PIECE_BYTES) {
      response.write(bytes.subarray(at, at + PIECE_BYTES))
      await new Promise(setImmediate)
    }
    response.end()
  },
  'with a broken line': (response: ServerResponse, body: string) => {
    response.write(body.slice(0, body.length / 2), () => response.destroy())
  },
}

async function replyOf({ createModels }: typeof source, url: string, provider: string): Promise<unknown> {
  const pauses: string[] = []
  const deltas: Delta[] = []
  const models = createModels({
    providers: {
      compatible: { type: 'openai-compatible', baseUrl: `${url}/v1`, apiKeyEnv: 'KEY' },
      google: { type: 'google', baseUrl: `${url}/v1`, apiKeyEnv: 'KEY' },
    },
    env: { ANTHROPIC_BASE_URL: url, OPENAI_BASE_URL: `${url}/v1`, ANTHROPIC_API_KEY: KEY, OPENAI_API_KEY: KEY, KEY },
    aliases: {}, maxTries: 2, sleep: () => Promise.resolve(), onPause: ({ reason }) => void pauses.push(reason),
  })
  const answer = await models.open(`${provider}/m`)
    .generate(request(), { signal: new AbortController().signal, onDelta: (delta) => void deltas.push(delta) })
    .catch((error: unknown) => String(error))
  models.close()
  // Google's package makes ids of its own.
  return JSON.parse(JSON.stringify({ answer, deltas, pauses }).replaceAll(/"(?:id|call)":"[A-Za-z0-9]{16}"/g, '"id":"…"'))
}

describe.each(Object.entries(WAYS))('over the built packages, as over those of the source, %s:', (way, send) => {
  test.each(BODIES)('%s (%s)', async (name, provider, body) => {
    const raw = await rawServer(async (response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      await send(response, body)
    })
    const asSource = await replyOf(source, raw.url, provider)
    expect(await replyOf(built, raw.url, provider)).toEqual(asSource)
    if (way === 'at once' && /^(?:text|calls)$/.test(name)) expect(asSource).toMatchObject({ answer: { model: expect.any(String) as unknown } })
  })
})
