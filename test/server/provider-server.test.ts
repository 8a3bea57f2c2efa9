import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { expect, onTestFinished, test } from 'vitest'
import { type Script, startProviderServer } from './provider-server.ts'

async function started(script: Script) {
  const server = await startProviderServer({ script })
  onTestFinished(() => server.close())
  const post = (path: string, body: unknown): Promise<Response> => fetch(server.url + path, { method: 'POST', body: JSON.stringify(body) })
  return { ...server, post }
}

/** The data of each server-sent event. */
const events = (text: string): readonly string[] =>
  text.split('\n\n').filter(Boolean).map((event) => event.slice(event.indexOf('data: ') + 6))

const CALLS = { text: 'Two calls', calls: [{ name: 'read', input: { path: 'a' } }, { name: 'read', input: { path: 'b' } }],
  usage: { input: 10, output: 5, cacheRead: 3, cacheWrite: 2 } }

test('a streamed Anthropic reply is the event sequence the API documents', async () => {
  const { post } = await started(() => CALLS)
  const response = await post('/v1/messages', { model: 'm', stream: true, messages: [{ role: 'user', content: 'hi' }] })
  expect(response.headers.get('content-type')).toBe('text/event-stream')
  const sent = events(await response.text()).map((data) => JSON.parse(data) as { type: string; usage?: unknown })
  expect(sent.map(({ type }) => type)).toEqual([
    'message_start',
    'content_block_start', 'content_block_delta', 'content_block_stop',
    'content_block_start', 'content_block_delta', 'content_block_delta', 'content_block_stop',
    'content_block_start', 'content_block_delta', 'content_block_delta', 'content_block_stop',
    'message_delta', 'message_stop',
  ])
  expect(sent.at(-2)?.usage).toEqual({ input_tokens: 10, output_tokens: 5, cache_read_input_tokens: 3, cache_creation_input_tokens: 2 })
})

test('a streamed OpenAI reply ends with its usage, when asked for, and [DONE]', async () => {
  const { post } = await started(() => CALLS)
  const body = { model: 'm', stream: true, messages: [{ role: 'user', content: 'hi' }] }
  const without = events(await (await post('/v1/chat/completions', body)).text())
  const sent = events(await (await post('/v1/chat/completions', { ...body, stream_options: { include_usage: true } })).text())
  expect(without.join()).not.toContain('prompt_tokens')
  expect(sent.at(-1)).toBe('[DONE]')
  expect(JSON.parse(sent.at(-2) ?? '')).toMatchObject({ choices: [],
    usage: { prompt_tokens: 15, completion_tokens: 5, prompt_tokens_details: { cached_tokens: 3 } } })
  expect(JSON.parse(sent.at(-3) ?? '')).toMatchObject({ choices: [{ delta: {}, finish_reason: 'tool_calls' }] })
})

test('plain replies of both wires have text, calls and usage', async () => {
  const { post } = await started(() => CALLS)
  expect(await (await post('/v1/messages', { model: 'm', messages: [] })).json()).toMatchObject({
    type: 'message',
    stop_reason: 'tool_use',
    content: [{ type: 'text', text: 'Two calls' }, { type: 'tool_use', input: { path: 'a' } }, { type: 'tool_use' }],
    usage: { input_tokens: 10 },
  })
  expect(await (await post('/v1/chat/completions', { model: 'm', messages: [] })).json()).toMatchObject({
    choices: [{ message: { content: 'Two calls', tool_calls: [{ function: { name: 'read', arguments: '{"path":"a"}' } }, {}] },
      finish_reason: 'tool_calls' }],
  })
})

test('a script sees system text, turn, last user text and the results just handed in, the same on both wires', async () => {
  const { post, requests } = await started(() => ({ text: 'ok' }))
  await post('/v1/messages', {
    system: [{ type: 'text', text: 'S' }],
    messages: [
      { role: 'user', content: 'U' },
      { role: 'assistant', content: [{ type: 'tool_use', id: 'x', name: 'read', input: {} }] },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'x', content: [{ type: 'text', text: 'R' }] }] },
    ],
  })
  await post('/v1/chat/completions', {
    messages: [
      { role: 'system', content: 'S' },
      { role: 'user', content: 'U' },
      { role: 'assistant', tool_calls: [{ id: 'x', type: 'function', function: { name: 'read', arguments: '{}' } }] },
      { role: 'tool', tool_call_id: 'x', content: 'R' },
    ],
  })
  for (const { request } of requests) expect(request).toMatchObject({ system: 'S', lastUserText: 'U', turn: 2,
    toolResults: [{ id: 'x', name: 'read', text: 'R' }] })
  expect(requests.map(({ request }) => request?.wire)).toEqual(['anthropic', 'openai'])
})

test('a client that hangs up is recorded, and closing ends what never answers', async () => {
  const { url, requests, close } = await started(() => ({ silent: true }))
  const stop = new AbortController()
  const hung = fetch(`${url}/v1/messages`, { method: 'POST', body: '{}', signal: stop.signal }).catch(() => 'gone')
  const waiting = fetch(`${url}/v1/messages`, { method: 'POST', body: '{}' }).catch(() => 'closed')
  await expect.poll(() => requests.length).toBe(2)
  stop.abort()
  expect(await hung).toBe('gone')
  await expect.poll(() => requests.filter(({ aborted }) => aborted).length).toBe(1)
  await close()
  expect(await waiting).toBe('closed')
})

test('what is no request is answered with an error, and a failing script too', async () => {
  const { url, post } = await started(() => { throw new Error('bad script') })
  expect((await post('/v1/messages', { messages: [] })).status).toBe(400)
  expect((await fetch(`${url}/v1/messages`, { method: 'POST', body: 'no json' })).status).toBe(400)
  expect((await fetch(`${url}/elsewhere`)).status).toBe(404)
})

test('main.ts serves a named scenario until it is told to stop, and lists the names otherwise', async () => {
  const main = fileURLToPath(new URL('main.ts', import.meta.url))
  const child = spawn(process.execPath, [main, 'echo'], { stdio: ['ignore', 'pipe', 'inherit'] })
  onTestFinished(() => void child.kill())
  const [line] = await once(createInterface(child.stdout), 'line') as [string]
  const url = line.split(' ')[0] ?? ''
  const response = await fetch(`${url}/v1/messages`,
    { method: 'POST', body: JSON.stringify({ messages: [{ role: 'user', content: 'Hello there' }] }) })
  expect(await response.text()).toContain('You wrote: Hello there')
  child.kill('SIGTERM')
  expect(await once(child, 'exit')).toEqual([0, null])
  const wrong = spawn(process.execPath, [main, 'nonsense'], { stdio: ['ignore', 'ignore', 'pipe'] })
  const [text] = await once(wrong.stderr, 'data') as [Buffer]
  expect(text.toString()).toContain('fanout')
  expect(await once(wrong, 'exit')).toEqual([2, null])
})
