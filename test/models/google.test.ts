import { once } from 'node:events'
import { createServer } from 'node:http'
import { expect, onTestFinished, test } from 'vitest'
import type { JsonObject } from '../../src/core/json.ts'
import { createModels, type Models } from '../../src/models/models.ts'
import { ask, KEY } from './ask.ts'

type Gemini = { readonly models: Models; readonly requests: readonly { readonly url: string; readonly key: string; readonly body: string }[] }

/** As much of Gemini's wire as a call needs: each answer is the list of its stream's chunks, or a status. */
async function gemini(answers: readonly (readonly JsonObject[] | number)[]): Promise<Gemini> {
  const requests: { url: string; key: string; body: string }[] = []
  const server = createServer((incoming, response) => {
    let body = ''
    incoming.on('data', (piece: Buffer) => { body += piece.toString() })
    incoming.on('end', () => {
      const answer = answers[requests.length] ?? []
      requests.push({ url: incoming.url ?? '', key: String(incoming.headers['x-goog-api-key']), body })
      if (typeof answer === 'number') {
        response.writeHead(answer, { 'content-type': 'application/json' })
        return void response.end(JSON.stringify({ error: { code: answer, message: 'Quota exceeded', status: 'X' } }))
      }
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.end(answer.map((chunk) => `data: ${JSON.stringify(chunk)}\r\n\r\n`).join(''))
    })
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => void server.close())
  const address = server.address()
  const models = createModels({
    providers: { google: { type: 'google', baseUrl: `http://127.0.0.1:${typeof address === 'object' ? address?.port : 0}` } },
    env: { GOOGLE_API_KEY: KEY },
    aliases: {},
    sleep: () => Promise.resolve(),
  })
  return { models, requests }
}

const USAGE = { promptTokenCount: 100, candidatesTokenCount: 20, totalTokenCount: 120, cachedContentTokenCount: 40 }
const chunk = (parts: readonly JsonObject[], finishReason?: string): JsonObject => ({
  candidates: [{ content: { role: 'model', parts }, index: 0, ...(finishReason === undefined ? {} : { finishReason }) }],
  usageMetadata: USAGE,
  modelVersion: 'gemini-2.5-pro-001',
})

test('a Gemini reply has text, calls, usage and model, and the signature of a call goes back with it', async () => {
  const { models, requests } = await gemini([
    [chunk([{ text: 'Let me ' }]),
      chunk([{ text: 'look.' }, { functionCall: { name: 'read', args: { path: 'a' } }, thoughtSignature: 'sig-g' }], 'STOP')],
    [chunk([{ text: 'Done' }], 'STOP')],
  ])
  const model = models.open('google/gemini-2.5-pro')
  const { reply } = await ask(model, { effort: 2_000 })
  expect(reply).toMatchObject({
    text: 'Let me look.',
    calls: [{ name: 'read', input: { path: 'a' } }],
    usage: { input: 60, output: 20, cacheRead: 40 },
    model: 'google/gemini-2.5-pro-001',
  })
  expect(requests[0]).toMatchObject({ url: '/v1beta/models/gemini-2.5-pro:streamGenerateContent?alt=sse', key: KEY })
  expect(requests[0]?.body).toContain('"thinkingBudget":2000')
  await ask(model, {
    turn: 2,
    messages: [
      { role: 'user', text: 'Hello' },
      { role: 'assistant', text: reply.text, calls: reply.calls, ...(reply.opaque === undefined ? {} : { opaque: reply.opaque }) },
      { role: 'tool', outcomes: [{ callId: reply.calls[0]?.id ?? '', tool: 'read', ok: true, text: 'content of a' }] },
    ],
  })
  expect(requests[1]?.body).toContain('"thoughtSignature":"sig-g"')
  expect(requests[1]?.body).toContain('content of a')
})

test('a result goes back to Gemini under the name its call had, whatever the tool is called here (AGT-13, GRA-03)', async () => {
  const { models, requests } = await gemini([[chunk([{ text: 'Done' }], 'STOP')]])
  await ask(models.open('google/gemini-2.5-pro'), { messages: [
    { role: 'user', text: 'First' },
    { role: 'assistant', text: '', calls: [{ id: 'c1', name: 'explorer', input: { task: 'look' }, local: false }, { id: 'c2', name: 'Read', input: { path: 'a' }, local: true }] },
    { role: 'tool', outcomes: [{ callId: 'c1', tool: 'agent', ok: true, text: 'A' }, { callId: 'c2', tool: 'read', ok: true, text: 'B' }] },
  ] })
  expect([...(requests[0]?.body ?? '').matchAll(/"(functionCall|functionResponse)":\{(?:"id":"[^"]*",)?"name":"(\w+)"/g)].map(([, part, name]) => [part, name])).toEqual([
    ['functionCall', 'explorer'], ['functionCall', 'Read'], ['functionResponse', 'explorer'], ['functionResponse', 'Read'],
  ])
})

test('Gemini\'s 429 is tried again, and its stream without an end is no reply', async () => {
  const { models, requests } = await gemini([429, [chunk([{ text: 'Half' }])], [chunk([{ text: 'Whole' }], 'STOP')]])
  expect((await ask(models.open('google/gemini-2.5-pro'))).reply.text).toBe('Whole')
  expect(requests.length).toBe(3)
})
