import { once } from 'node:events'
import { createServer } from 'node:http'
import { describe, expect, onTestFinished, test } from 'vitest'
import { CadreError } from '../../src/core/errors.ts'
import { createModels, type LostUsage, type ModelsOptions, type Pause } from '../../src/models/models.ts'
import { type Answer, startProviderServer } from '../server/provider-server.ts'
import { ask, type Asked, KEY, modelsAt, PROVIDERS, request, server, shown } from './ask.ts'

/** Runs one call against a server that answers in the given order, the last answer over and over. */
async function run(provider: string, answers: readonly Answer[], options: Partial<ModelsOptions> = {}) {
  const pauses: Pause[] = []
  const lost: LostUsage[] = []
  let count = 0
  const { url, requests } = await server(() => {
    const answer = answers[Math.min(count, answers.length - 1)]
    count += 1
    return answer ?? {}
  })
  const models = modelsAt(url, { onPause: (pause) => void pauses.push(pause), onLostUsage: (usage) => void lost.push(usage), ...options })
  let asked: Asked | null = null
  let failure: CadreError | null = null
  try {
    asked = await ask(models.open(`${provider}/scripted`))
  } catch (error) {
    if (!(error instanceof CadreError)) throw error
    failure = error
  }
  return { asked, failure, pauses, lost, tries: requests.length }
}

const GOOD: Answer = { text: 'All is well', usage: { input: 10, output: 3 } }

const FAULTS: Readonly<Record<string, Answer>> = {
  '408': { status: 408 },
  '429': { status: 429, text: 'Slow down.' },
  '500': { status: 500 },
  '502 with a page of HTML': { status: 502, text: '<html>' },
  '529': { status: 529, text: 'Overloaded' },
  'a line dropped before the reply': { drop: 'before' },
  'a line dropped in the middle': { text: 'Half of it is never seen', chunks: 4, drop: 'mid-stream' },
  'a chunk that is no JSON': { text: 'Half of it is never seen', chunks: 4, malformed: 'chunk' },
  'a body that is no reply': { malformed: 'json' },
  'a plain body cut off': { text: 'Half', plain: true, drop: 'mid-stream' },
  'an error in the middle of the stream': { text: 'Half of it is never seen', chunks: 4, streamError: 'Overloaded' },
  'silence': { silent: true },
  'silence in the middle': { text: 'Half of it is never seen', chunks: 4, silent: 'mid-stream' },
}

/** Short where silence is the fault; elsewhere as it is, so that a busy machine cannot look like a silent provider. */
const patience = (name: string): Partial<ModelsOptions> => (name.startsWith('silence') ? { silenceSeconds: 0.4 } : {})

describe.each(PROVIDERS)('BUD-09 over the wire of %s:', (provider) => {
  test.each(Object.keys(FAULTS))('after %s the call is tried again and succeeds', async (name) => {
    const { asked, pauses, tries } = await run(provider, [FAULTS[name] ?? {}, GOOD], patience(name))
    expect(asked?.reply.text).toBe('All is well')
    expect(shown(asked?.deltas ?? [])).toBe('All is well')
    expect(tries).toBe(2)
    expect(pauses).toMatchObject([{ provider, attempt: 1, agent: 'a1' }])
    expect(pauses[0]?.reason).not.toBe('')
  })

  test.each(Object.keys(FAULTS))('%s over and over ends with a typed error, never an empty reply', async (name) => {
    const { failure, tries } = await run(provider, [FAULTS[name] ?? {}],
      { silenceSeconds: name.startsWith('silence') ? 0.2 : 60, maxTries: 2 })
    expect(failure?.code).toBe(name === '429' ? 'RATE_LIMIT' : 'MODEL')
    expect(failure?.message).toContain(`${provider}/scripted failed after 2 tries: `)
    expect(tries).toBe(2)
  })

  test('six tries are made in all when nothing else is set', async () => {
    const { failure, tries } = await run(provider, [{ status: 503, text: 'Back soon' }])
    expect(failure?.message).toContain(`${provider}/scripted failed after 6 tries: 503: Back soon.`)
    expect(tries).toBe(6)
  })

  test('the provider\'s own message is in the error', async () => {
    const message = async (answer: Answer): Promise<string | undefined> => (await run(provider, [answer])).failure?.message
    expect(await message({ status: 429, text: 'You have used 400,000 tokens.' })).toContain('429: You have used 400,000 tokens. ')
    expect(await message({ status: 529, text: 'Overloaded today' })).toContain('Overloaded today')
    expect(await message({ text: 'x', streamError: 'Lost the thread' })).toContain('Lost the thread')
  })

  test.each([400, 401, 403, 404, 413, 422])('%i is not tried again, and the error says what to do', async (status) => {
    const { failure, tries, pauses } = await run(provider, [{ status, text: 'No such luck' }])
    expect(tries).toBe(1)
    expect(pauses).toEqual([])
    expect(failure?.code).toBe('MODEL')
    expect(failure?.message).toContain(`${provider}/scripted failed: ${status}: No such luck. `)
    const variable = provider === 'compatible' ? 'COMPATIBLE_KEY' : `${provider.toUpperCase()}_API_KEY`
    if (status === 401) expect(failure?.message).toContain(`set ${variable} to a valid one`)
    if (status === 404) expect(failure?.message).toContain('cadre models')
  })

  test('an empty reply is asked for once more, at once (MOD-05)', async () => {
    const { asked, tries, pauses } = await run(provider, [{ empty: true, usage: { input: 7, output: 1 } }, GOOD])
    expect(asked?.reply.text).toBe('All is well')
    expect(asked?.reply.usage).toMatchObject({ input: 17, output: 4 })
    expect(tries).toBe(2)
    expect(pauses).toEqual([])
  })

  test('two empty replies are a failure (MOD-05)', async () => {
    for (const empty of [{ empty: true }, { text: ' \n' }] as const) {
      const { failure, tries } = await run(provider, [empty])
      expect(failure?.code).toBe('MODEL')
      expect(failure?.message).toContain('neither text nor tool calls')
      expect(tries).toBe(2)
    }
  })

  test('a half-streamed reply is taken back before the next one is shown (MOD-05)', async () => {
    const { asked } = await run(provider, [{ text: 'Half of it is seen', chunks: 6, drop: 'mid-stream', chunkMs: 2 }, GOOD])
    const kinds = asked?.deltas.map(({ kind }) => kind) ?? []
    expect(kinds.indexOf('reset')).toBeGreaterThan(0)
    expect(shown(asked?.deltas ?? [])).toBe('All is well')
  })
})

describe('an answer that is none', () => {
  const SSE = 'text/event-stream'
  test.each([
    ['an empty stream', SSE, '', 'MODEL'],
    ['a stream of comments', SSE, ': still here\n\n: still here\n\n', 'MODEL'],
    ['a stream that only says it is done', SSE, 'data: [DONE]\n\n', 'MODEL'],
    ['a gateway\'s error with a numeric code in the stream', SSE, 'data: {"error":{"message":"Slow down","code":429}}\n\n', 'RATE_LIMIT'],
    ['an error as a good reply', 'application/json', '{"error":{"message":"Out of memory","code":500}}', 'MODEL'],
    ['a page of HTML', 'text/html', '<html>Welcome to the hotel network</html>', 'MODEL'],
    ['JSON null', 'application/json', 'null', 'MODEL'],
    ['a stream that ends in the middle, politely', SSE,
      'data: {"id":"x","created":1,"model":"m","choices":[{"index":0,"delta":{"content":"Half"}}]}\n\n', 'MODEL'],
    ['events of another wire', SSE, 'data: {"hello":"world"}\n\n', 'MODEL'],
  ] as const)('is a typed failure, tried again: %s', async (_, type, body, code) => {
    let count = 0
    const odd = createServer((incoming, response) => {
      incoming.resume()
      count += 1
      response.writeHead(200, { 'content-type': type }).end(body)
    }).listen(0, '127.0.0.1')
    await once(odd, 'listening')
    onTestFinished(() => void odd.close())
    const address = odd.address()
    const models = modelsAt(`http://127.0.0.1:${typeof address === 'object' ? address?.port : 0}`, { maxTries: 2 })
    await expect(ask(models.open('compatible/scripted'))).rejects.toMatchObject({ code })
    await expect(ask(models.open('openai/scripted'))).rejects.toMatchObject({ name: 'CadreError' })
    await expect(ask(models.open('anthropic/scripted'))).rejects.toMatchObject({ name: 'CadreError' })
    expect(count).toBe(6)
  })

  test('is not read to its end: the line is dropped', async () => {
    const { url, requests } = await server(() => ({ text: 'abc'.repeat(100), chunks: 100, chunkMs: 20, malformed: 'chunk' }))
    const models = modelsAt(url, { maxTries: 1 })
    for (const provider of PROVIDERS) await expect(ask(models.open(`${provider}/scripted`))).rejects.toMatchObject({ code: 'MODEL' })
    await expect.poll(() => requests.filter(({ aborted }) => aborted).length).toBe(PROVIDERS.length)
  })

  test('is not what a listener\'s own fault is: that ends the call without another try', async () => {
    const { url, requests } = await server(() => GOOD)
    const call = modelsAt(url).open('anthropic/scripted').generate(request(), {
      signal: new AbortController().signal,
      onDelta: () => { throw new Error('the screen is gone') },
    })
    await expect(call).rejects.toThrow('the screen is gone')
    expect(requests.length).toBe(1)
  })
})

describe('BUD-09: the wait', () => {
  test('is as long as the provider asks, in seconds, ms or as a date', async () => {
    const waits = async (headers: Readonly<Record<string, string>>) =>
      (await run('anthropic', [{ status: 429, headers }, GOOD])).pauses[0]?.waitMs
    expect(await waits({ 'retry-after': '7' })).toBe(7_000)
    expect(await waits({ 'retry-after': '90' })).toBe(90_000)
    expect(await waits({ 'retry-after-ms': '1500', 'retry-after': '2' })).toBe(1_500)
    const byDate = await waits({ 'retry-after': new Date(Date.now() + 30_000).toUTCString() })
    expect(byDate).toBeGreaterThan(25_000)
    expect(byDate).toBeLessThanOrEqual(30_000)
  })

  test('is 1 s doubling, with jitter, when the provider names none', async () => {
    const { pauses } = await run('openai', [{ status: 529 }])
    expect(pauses.map(({ attempt }) => attempt)).toEqual([1, 2, 3, 4, 5])
    for (const [i, { waitMs }] of pauses.entries()) {
      expect(waitMs).toBeGreaterThanOrEqual(800 * 2 ** i)
      expect(waitMs).toBeLessThanOrEqual(1_200 * 2 ** i)
    }
    expect(new Set(pauses.map(({ waitMs }, i) => waitMs / 2 ** i)).size).toBeGreaterThan(1)
  })

  test('never exceeds a minute and a little, whatever maxTries is', async () => {
    const { pauses } = await run('openai', [{ status: 500 }], { maxTries: 10 })
    expect(pauses.length).toBe(9)
    expect(Math.max(...pauses.map(({ waitMs }) => waitMs))).toBeLessThanOrEqual(72_000)
  })

  test('is really waited for: no request comes earlier than the provider allowed', async () => {
    let count = 0
    const { url, requests } = await server(() => (count++ === 0 ? { status: 429, headers: { 'retry-after-ms': '120' } } : GOOD))
    const models = modelsAt(url, { sleep: (ms) => new Promise((resolve) => { setTimeout(resolve, ms) }) })
    await ask(models.open('anthropic/scripted'))
    expect((requests[1]?.startedMs ?? 0) - (requests[0]?.startedMs ?? 0)).toBeGreaterThanOrEqual(119)
  })
})

describe('a network that is not there', () => {
  test('is tried 6 times, and the error names the address', async () => {
    const closed = await startProviderServer({ script: () => ({}) })
    await closed.close()
    const pauses: Pause[] = []
    const models = modelsAt(closed.url, { onPause: (pause) => void pauses.push(pause) })
    const message: unknown = expect.stringContaining(closed.url)
    await expect(ask(models.open('anthropic/scripted'))).rejects.toMatchObject({ code: 'MODEL', message })
    expect(pauses.length).toBe(5)
    expect(pauses[0]?.reason).toContain('ECONNREFUSED')
  })

  test('of a local server asks whether it runs', async () => {
    const closed = await startProviderServer({ script: () => ({}) })
    await closed.close()
    const models = modelsAt(closed.url, { env: { OLLAMA_HOST: closed.url } })
    await expect(ask(models.open('ollama/qwen'))).rejects.toThrow(`Is ollama running at ${closed.url}/v1?`)
  })
})

describe('silence', () => {
  test('is not what a slow reply is: each piece starts the time again', async () => {
    const { asked, tries } = await run('anthropic', [{ ...GOOD, chunks: 10, chunkMs: 150 }], { silenceSeconds: 1 })
    expect(asked?.reply.text).toBe('All is well')
    expect(tries).toBe(1)
  })

  test('names its length, and the line is dropped', async () => {
    const { url, requests } = await server(() => ({ silent: true }))
    await expect(ask(modelsAt(url, { silenceSeconds: 0.1, maxTries: 1 }).open('openai/scripted'))).rejects.toThrow('no word for 0.1 s')
    await expect.poll(() => requests[0]?.aborted).toBe(true)
  })
})

describe('stopping a call', () => {
  const reason = new CadreError('STOPPED', 'stopped by the user')

  test.each([
    ['that is not answered', { silent: true }],
    ['in the middle of its reply', { text: 'abcdefgh', chunks: 8, silent: 'mid-stream' }],
    ['whose reply is slow', { text: 'abcdefgh', latencyMs: 60_000 }],
  ] as const)('%s ends it at once with the reason, hangs up, and tries nothing again', async (_, answer) => {
    for (const provider of PROVIDERS) {
      const stop = new AbortController()
      const { url, requests } = await server(() => {
        setTimeout(() => stop.abort(reason), 50)
        return answer
      })
      const after: string[] = []
      const onDelta = (): void => void (stop.signal.aborted && after.push('late'))
      const call = modelsAt(url).open(`${provider}/scripted`).generate(request(), { signal: stop.signal, onDelta })
      await expect(call).rejects.toBe(reason)
      await expect.poll(() => requests[0]?.aborted).toBe(true)
      expect(requests.length).toBe(1)
      expect(after).toEqual([])
    }
  })

  test('before it began asks the provider nothing', async () => {
    const { url, requests } = await server(() => GOOD)
    await expect(ask(modelsAt(url).open('anthropic/scripted'), {}, AbortSignal.abort(reason))).rejects.toBe(reason)
    expect(requests.length).toBe(0)
  })

  test('during a wait ends the wait', async () => {
    const { url, requests } = await server(() => ({ status: 429, headers: { 'retry-after': '3600' } }))
    const stop = new AbortController()
    // The module's own timer, not the test's: so not through modelsAt.
    const models = createModels({
      providers: {},
      env: { ANTHROPIC_BASE_URL: url, ANTHROPIC_API_KEY: KEY },
      aliases: {},
      onPause: () => void setTimeout(() => stop.abort(reason), 20),
    })
    await expect(ask(models.open('anthropic/scripted'), {}, stop.signal)).rejects.toBe(reason)
    expect(requests.length).toBe(1)
    models.close()
  })

  test('all calls end when the models are closed', async () => {
    const { url } = await server(() => ({ silent: true }))
    const models = modelsAt(url)
    const calls = ['anthropic', 'openai'].map((provider) => ask(models.open(`${provider}/scripted`)))
    setTimeout(() => models.close(), 50)
    for (const call of await Promise.allSettled(calls)) expect(call).toMatchObject({ status: 'rejected', reason: { code: 'STOPPED' } })
    await expect(ask(models.open('anthropic/scripted'))).rejects.toMatchObject({ code: 'STOPPED' })
  })
})

describe('BUD-06: the usage of failed tries', () => {
  test('is added to the usage of the reply, as far as the provider reported it', async () => {
    const broken: Answer = { text: 'abcd', chunks: 4, drop: 'mid-stream', usage: { input: 100, output: 5, cacheRead: 40, cacheWrite: 8 } }
    const { asked, lost } = await run('anthropic', [broken, broken, { status: 429 }, GOOD])
    // Output of a reply that broke off is reported as the one token it began with.
    expect(asked?.reply.usage).toEqual({ input: 210, output: 5, cacheRead: 80, cacheWrite: 16 })
    expect(lost).toEqual([])
  })

  test('is told apart when no reply comes to carry it', async () => {
    const { lost, failure } = await run('anthropic', [{ text: 'abcd', chunks: 4, drop: 'mid-stream', usage: { input: 100 } }])
    expect(failure?.code).toBe('MODEL')
    expect(lost).toEqual([{ agent: 'a1', model: 'anthropic/scripted', usage: { input: 600, output: 6, cacheRead: 0, cacheWrite: 0 } }])
  })

  test('is told apart when the call is stopped half-way', async () => {
    const { url } = await server(() => ({ text: 'abcd', chunks: 4, silent: 'mid-stream', usage: { input: 100 } }))
    const stop = new AbortController()
    const lost: LostUsage[] = []
    const model = modelsAt(url, { onLostUsage: (usage) => void lost.push(usage) }).open('anthropic/scripted')
    const call = model.generate(request(), { signal: stop.signal, onDelta: () => stop.abort(new Error('enough')) })
    await expect(call).rejects.toThrow('enough')
    expect(lost).toMatchObject([{ usage: { input: 100 } }])
  })
})
