import { describe, expect, test } from 'vitest'
import type { Message } from '../../src/core/contract.ts'
import type { JsonObject } from '../../src/core/json.ts'
import { ask, modelsAt, READ, server } from './ask.ts'

const GREP = { name: 'grep', description: 'Search.', input: { type: 'object', properties: { pattern: { type: 'string' } } } }

const HISTORY: readonly Message[] = [
  { role: 'user', text: 'First' },
  { role: 'assistant', text: '',
    calls: [{ id: 'c1', name: 'read', input: { path: 'a' }, local: true }, { id: 'c2', name: 'read', input: { path: 'b' }, local: true }] },
  { role: 'tool', outcomes: [{ callId: 'c1', tool: 'read', ok: true, text: 'A' }, { callId: 'c2', tool: 'read', ok: true, text: 'B' }] },
]

/** Where cache marks stand in a body, as paths, with the mark. */
function marks(value: unknown, path = ''): readonly (readonly [string, unknown])[] {
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([key, inner]) =>
    (key === 'cache_control' ? [[path, inner] as const] : marks(inner, `${path}/${key}`)))
}

async function bodyOf(overrides: Parameters<typeof ask>[1], provider = 'anthropic'): Promise<JsonObject> {
  const { url, requests } = await server(() => ({ text: 'ok' }))
  await ask(modelsAt(url).open(`${provider}/scripted`), overrides)
  return requests[0]?.body ?? {}
}

describe('MOD-07: cache marks on Anthropic\'s wire', () => {
  test('stand behind the last tool, the system prompt and the last two messages of ours', async () => {
    const found = marks(await bodyOf({ tools: [READ, GREP], messages: HISTORY }))
    expect(found.map(([path]) => path).toSorted()).toEqual(['/messages/0/content/0', '/messages/2/content/1', '/system/0', '/tools/1'])
    for (const [, mark] of found) expect(mark).toEqual({ type: 'ephemeral' })
  })

  test('never stand behind anchors, which the next turn does not send again (DEL-11)', async () => {
    const found = marks(await bodyOf({ tools: [READ, GREP], messages: [...HISTORY, { role: 'user', text: '- [ ] …', synthetic: 'anchors' }] }))
    expect(found.map(([path]) => path).toSorted()).toEqual(['/messages/0/content/0', '/messages/2/content/1', '/system/0', '/tools/1'])
  })

  test('ask for an hour when the type does', async () => {
    const found = marks(await bodyOf({ cacheTtl: '1h', messages: HISTORY }))
    expect(found.length).toBe(4)
    for (const [, mark] of found) expect(mark).toEqual({ type: 'ephemeral', ttl: '1h' })
  })

  test('are never more than the four a request may have, however long the history', async () => {
    const long = Array.from({ length: 20 }, () => HISTORY).flat()
    expect(marks(await bodyOf({ messages: long })).length).toBe(4)
  })

  test('of one turn stand where the next turn reads them', async () => {
    const { url, requests } = await server(() => ({ text: 'ok' }))
    const model = modelsAt(url).open('anthropic/scripted')
    await ask(model, { messages: HISTORY.slice(0, 1) })
    await ask(model, { messages: HISTORY })
    const [first, second] = requests.map(({ body }) => marks(body).map(([path]) => path))
    expect(first).toContain('/messages/0/content/0')
    expect(second).toContain('/messages/0/content/0')
  })

  test.each(['openai', 'compatible'])('are not sent to %s', async (provider) => {
    expect(marks(await bodyOf({ cacheTtl: '1h', messages: HISTORY }, provider))).toEqual([])
  })
})

describe.each(['anthropic', 'openai', 'compatible'])('MOD-07 over the wire of %s', (provider) => {
  test('system prompt and tools are byte-equal over two runs of a type with other prompts, turns and agents', async () => {
    const { url, requests } = await server(() => ({ text: 'ok' }))
    const models = modelsAt(url)
    await ask(models.open(`${provider}/scripted`), { agent: 'a1', tools: [READ, GREP] })
    await ask(models.open(`${provider}/scripted`), { agent: 'a2', turn: 9, time: 12_345, tools: [READ, GREP], messages: HISTORY })
    const [one, two] = requests.map(({ body }) =>
      JSON.stringify([body['tools'], body['system'] ?? (body['messages'] as readonly JsonObject[])[0]]))
    expect(one).toBe(two)
    expect(one).toContain('You are a test.')
  })

  test('a longer history begins with the bytes of the shorter one, marks aside', async () => {
    const { url, requests } = await server(() => ({ text: 'ok' }))
    const models = modelsAt(url)
    await ask(models.open(`${provider}/scripted`), { messages: HISTORY.slice(0, 1) })
    await ask(models.open(`${provider}/scripted`), { messages: HISTORY })
    const [short, long] = requests.map(({ body }) =>
      JSON.stringify(body['messages'], (key, value: unknown) => (key === 'cache_control' ? undefined : value)))
    expect(short?.endsWith(']')).toBe(true)
    expect(long?.startsWith(short?.slice(0, -1) ?? 'none')).toBe(true)
  })
})
