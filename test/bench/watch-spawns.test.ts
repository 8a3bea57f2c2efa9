import { expect, onTestFinished, test } from 'vitest'
import type { CadreEvent } from '../../src/core/events.ts'
import { CADRE_DIALECT, parentPrompt } from '../../src/cli/bench/fan-out-script.ts'
import { startFakeProvider } from '../../src/cli/bench/provider-process.ts'
import { watchSpawns } from '../../src/cli/bench/watch-spawns.ts'
import { httpFetch } from '../../src/models/http-fetch.ts'

const result = { type: 'tool_result', content: 'x' }
const task = { role: 'user', content: '[bench child 0]' }
const childRequest = (results: number) =>
  JSON.stringify({ tools: [{ name: 'read' }], messages: [task, ...Array.from({ length: results }, () => result)] })
const parentRequest = JSON.stringify({ tools: [{ name: 'agent' }], messages: [{ role: 'user', content: parentPrompt(1) }] })

async function provider() {
  const { url, reset, close } = await startFakeProvider(new URL('../../src/cli/bench/provider.ts', import.meta.url))
  onTestFinished(close)
  await reset({ latencyMs: 0, files: ['a.ts'], dialect: CADRE_DIALECT })
  return { url, ask: async (base: string, body: string) => void (await httpFetch(`${base}/v1/messages`, { method: 'POST', body })).body.getReader().cancel() }
}

/** An event as far as the watch looks at it. */
const event = (type: string, depth: number, data = {}) => ({ type, depth, data }) as unknown as CadreEvent

test('a spawn is paired with its own requests, whoever else asks the same provider', async () => {
  const { url, ask } = await provider()
  const [first, second] = [watchSpawns(`${url}/first`), watchSpawns(`${url}/second`)]
  onTestFinished(() => [second, first].forEach((watch) => watch.close()))
  const spawn = async (name: string, { onEvent }: typeof first) => {
    await ask(`${url}/${name}`, parentRequest)
    onEvent(event('tool.started', 0, { call: { name: 'agent' } }))
    onEvent(event('delegation.started', 1))
    for (const results of [0, 1]) await ask(`${url}/${name}`, childRequest(results))
  }
  for (let i = 0; i < 3; i += 1) await ask(url, childRequest(0)) // as the bare side does
  await spawn('second', second)
  await spawn('first', first)
  for (const watch of [first, second]) {
    const [spawned, ...more] = watch.take()
    expect(more).toEqual([])
    const { fromStart = -1, fromCall = -1, toSecond = -1 } = spawned ?? {}
    expect([fromStart >= 0, fromCall >= fromStart, toSecond >= fromStart]).toEqual([true, true, true])
    expect(watch.take()).toEqual([])
  }
})

test('a request that is missing or one too many is told, not paired', async () => {
  const { url, ask } = await provider()
  const watch = watchSpawns(url)
  onTestFinished(watch.close)
  for (let i = 0; i < 2; i += 1) await ask(url, childRequest(0))
  watch.onEvent(event('delegation.started', 1))
  expect(() => watch.take()).toThrow('Sub-agents and their requests cannot be paired: calls, starts, first and second requests were 0, 1, 2, 0.')
})
