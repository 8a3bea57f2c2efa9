import { spawnSync } from 'node:child_process'
import { createServer } from 'node:http'
import { once } from 'node:events'
import { describe, expect, onTestFinished, test } from 'vitest'
import { createModels, type ModelsOptions } from '../../src/models/models.ts'
import { startProviderServer } from '../server/provider-server.ts'
import { ask, KEY, modelsAt, server } from './ask.ts'

const create = (options: Partial<ModelsOptions>): ReturnType<typeof createModels> =>
  createModels({ providers: {}, env: {}, aliases: {}, ...options })

describe('MOD-08: a provider', () => {
  test.each([
    ['anthropic/claude-sonnet-5-5', 'ANTHROPIC_API_KEY'],
    ['openai/gpt-5.4', 'OPENAI_API_KEY'],
    ['google/gemini-2.5-pro', 'GEMINI_API_KEY or GOOGLE_GENERATIVE_AI_API_KEY or GOOGLE_API_KEY'],
    ['openrouter/x/y', 'OPENROUTER_API_KEY'],
  ])('without its key is an error that names the variable: %s', (id, variables) => {
    expect(() => create({}).open(id)).toThrow(expect.objectContaining({
      code: 'SETTINGS', message: `No key for ${id.split('/')[0]}: set ${variables} to use ${id}, or choose another model.`,
    }))
    expect(() => create({ env: { ANTHROPIC_API_KEY: ' ', OPENAI_API_KEY: '' } }).open(id)).toThrow('No key for')
  })

  test.each(['ollama/x', 'lmstudio/x'])('%s needs no key', (id) => {
    expect(create({}).open(id).id).toBe(id)
  })

  test('that nobody knows, or no full id, is an error', () => {
    expect(() => create({}).open('nowhere/x'))
      .toThrow('Unknown provider "nowhere". Known: anthropic, openai, google, openrouter, ollama, lmstudio.')
    for (const id of ['sonnet', '/x', 'anthropic/', '']) expect(() => create({}).open(id)).toThrow(`"${id}" is no full model id`)
  })

  test('whose address is missing or no URL says which setting to mend', () => {
    expect(() => create({ providers: { mine: { type: 'openai-compatible' } } }).open('mine/x')).toThrow('set providers.mine.baseUrl')
    for (const baseUrl of ['localhost:80', 'ftp://x', 'not a url']) {
      const models = create({ providers: { mine: { type: 'openai-compatible', baseUrl } } })
      expect(() => models.open('mine/x')).toThrow('Mend providers.mine.baseUrl')
    }
  })

  test('of settings gets its key, its headers and its model at its address', async () => {
    const { url, requests } = await server(() => ({ text: 'ok' }))
    const models = create({
      providers: { mine: { type: 'openai-compatible', baseUrl: `${url}/deep/path/v1/`, apiKeyEnv: 'MY_KEY',
        headers: { 'X-Team': 'blue' } } },
      env: { MY_KEY: KEY },
    })
    await ask(models.open('mine/model:7b'))
    expect(requests[0]).toMatchObject({ path: '/deep/path/v1/chat/completions',
      headers: { authorization: `Bearer ${KEY}`, 'x-team': 'blue' }, body: { model: 'model:7b' } })
  })

  test('built in is overridden field by field, and a header of settings replaces the usual one', async () => {
    const { url, requests } = await server(() => ({ text: 'ok' }))
    const models = create({
      providers: { anthropic: { type: 'anthropic', baseUrl: url, headers: { 'X-Api-Key': 'another-key-123' } },
        openai: { type: 'openai', apiKeyEnv: 'WORK_KEY', baseUrl: url } },
      env: { ANTHROPIC_API_KEY: KEY, WORK_KEY: 'work-key-456' },
    })
    await ask(models.open('anthropic/claude-x'))
    await ask(models.open('openai/gpt-x'))
    expect(requests[0]).toMatchObject({ path: '/v1/messages', headers: { 'x-api-key': 'another-key-123' } })
    expect(requests[1]).toMatchObject({ path: '/v1/chat/completions', headers: { authorization: 'Bearer work-key-456' } })
  })

  test('of one\'s own without apiKeyEnv is never sent the key of a built-in one', async () => {
    const { url, requests } = await server(() => ({ text: 'ok' }))
    const models = create({
      providers: { a: { type: 'anthropic', baseUrl: url }, b: { type: 'openai', baseUrl: url },
        c: { type: 'openai-compatible', baseUrl: `${url}/v1` } },
      env: { ANTHROPIC_API_KEY: KEY, OPENAI_API_KEY: KEY },
    })
    for (const name of ['a', 'b', 'c']) await ask(models.open(`${name}/x`))
    expect(requests.length).toBe(3)
    for (const { headers } of requests) expect(JSON.stringify(headers)).not.toContain(KEY)
  })

  test.each([
    ['ANTHROPIC_BASE_URL', 'anthropic/x', '', '/v1/messages'],
    ['ANTHROPIC_BASE_URL', 'anthropic/x', '/v1', '/v1/messages'],
    ['ANTHROPIC_BASE_URL', 'anthropic/x', '/gateway/', '/gateway/v1/messages'],
    ['OPENAI_BASE_URL', 'openai/x', '/v1', '/v1/chat/completions'],
    ['OPENAI_BASE_URL', 'openai/x', '', '/v1/chat/completions'],
    ['OLLAMA_HOST', 'ollama/x', '', '/v1/chat/completions'],
  ])('%s is honoured: %s at %s', async (variable, id, suffix, path) => {
    const { url, requests } = await server(() => ({ text: 'ok' }))
    await ask(create({ env: { [variable]: url + suffix, ANTHROPIC_API_KEY: KEY, OPENAI_API_KEY: KEY } }).open(id))
    expect(requests[0]?.path).toBe(path)
  })

  test('OLLAMA_HOST is read as Ollama reads it', async () => {
    const { url, requests } = await server(() => ({ text: 'ok' }))
    const { port } = new URL(url)
    const hosts = [`127.0.0.1:${port}`, `:${port}`, `0.0.0.0:${port}`, `http://0.0.0.0:${port}/`]
    for (const host of hosts) await ask(create({ env: { OLLAMA_HOST: host } }).open('ollama/x'))
    expect(requests.length).toBe(4)
  })

  test('whose address holds a password sends it as a header and shows it nowhere', async () => {
    const { url, requests } = await server(() => ({ status: 400, text: 'No' }))
    const models = create({ providers: { mine: { type: 'openai-compatible', baseUrl: url.replace('//', '//me:top%20secret%@') } } })
    await expect(ask(models.open('mine/x'))).rejects.toThrow(/^(?!.*top.?secret).*$/)
    expect(requests[0]?.headers['authorization']).toBe(`Basic ${Buffer.from('me:top%20secret%').toString('base64')}`)
  })
})

describe('MOD-09: the list of providers', () => {
  test('names those with a key or an answering local server, with their models and prices', async () => {
    const ollama = await startProviderServer({ script: () => ({}), models: ['qwen3:8b', 'llama4'] })
    const other = await startProviderServer({ script: () => ({}), models: ['claude-haiku-4-5-20251001', 'gpt-5.4-mini'] })
    onTestFinished(() => Promise.all([ollama.close(), other.close()]).then(() => {}))
    const models = create({
      providers: { lmstudio: { type: 'openai-compatible', baseUrl: 'http://127.0.0.1:9' },
        fixed: { type: 'openai-compatible', baseUrl: other.url, models: ['one'] } },
      env: { OLLAMA_HOST: ollama.url, ANTHROPIC_BASE_URL: other.url, ANTHROPIC_API_KEY: KEY, OPENAI_BASE_URL: `${other.url}/v1`,
        OPENAI_API_KEY: KEY },
    })
    const listings = await models.list()
    expect(listings.map(({ provider }) => provider)).toEqual(['anthropic', 'openai', 'ollama', 'fixed'])
    const by = new Map(listings.map((listing) => [listing.provider, listing]))
    expect(by.get('anthropic')?.models[0]).toEqual({ id: 'anthropic/claude-haiku-4-5-20251001',
      price: expect.objectContaining({ input: 1, output: 5 }) as unknown })
    expect(by.get('openai')?.models[1]?.price).toMatchObject({ input: 0.75 })
    expect(by.get('ollama')).toMatchObject({ local: true, keyEnv: null, problem: null,
      models: [{ id: 'ollama/qwen3:8b', price: { input: 0, output: 0 } }, { id: 'ollama/llama4' }] })
    expect(by.get('fixed')).toMatchObject({ models: [{ id: 'fixed/one', price: null }], problem: null })
    const anthropicList = other.requests.find(({ headers }) => headers['anthropic-version'] !== undefined)
    expect(anthropicList).toMatchObject({ method: 'GET', path: '/v1/models', headers: { 'x-api-key': KEY } })
    expect(ollama.requests.map(({ path }) => path)).toEqual(['/api/tags'])
  })

  test('says of a provider with a key that cannot list its models why, without the key', async () => {
    const models = create({ env: { ANTHROPIC_BASE_URL: 'http://127.0.0.1:9', ANTHROPIC_API_KEY: KEY } })
    const [listing, ...rest] = await models.list()
    expect(listing).toMatchObject({ provider: 'anthropic', keyEnv: 'ANTHROPIC_API_KEY', models: [],
      problem: expect.stringContaining('cannot be listed') as string })
    expect(rest.filter(({ local }) => !local)).toEqual([])
    expect(JSON.stringify(listing)).not.toContain(KEY)
  })

  const ODD = ['[]', '{"data": 7}', 'no json', '{"data": [null, 7, {"id": 5}, {"name": "models/ok"}]}']
  test.each(ODD)('survives a server that answers %s', async (body) => {
    const odd = createServer((_, response) => response.end(body)).listen(0, '127.0.0.1')
    await once(odd, 'listening')
    onTestFinished(() => void odd.close())
    const address = odd.address()
    const url = `http://127.0.0.1:${typeof address === 'object' ? address?.port : 0}`
    const listings = await create({ providers: { odd: { type: 'openai-compatible', baseUrl: url } } }).list()
    const listing = listings.find(({ provider }) => provider === 'odd')
    expect(listing?.models.map(({ id }) => id)).toEqual(body.includes('ok') ? ['odd/ok'] : [])
    expect(listing?.problem === null).toBe(body.includes('ok'))
  })
})

describe('JRN-08: keys', () => {
  test('are all known for redaction, secret headers included, and short words are not taken for keys', () => {
    const models = create({
      providers: { mine: { type: 'openai-compatible', baseUrl: 'http://u:passw0rd@h', apiKeyEnv: 'MY_KEY',
        headers: { Authorization: 'Bearer abcdefgh1', 'X-Team': 'the-blue-team', Cookie: 'session=99999' } } },
      env: { ANTHROPIC_API_KEY: KEY, MY_KEY: 'any', UNRELATED: 'unrelated-value' },
    })
    const keys = models.keys()
    expect(keys).toEqual(expect.arrayContaining([KEY, 'Bearer abcdefgh1', 'abcdefgh1', 'session=99999']))
    for (const none of ['any', 'the-blue-team', 'unrelated-value']) expect(keys).not.toContain(none)
  })

  test('appear in no error, cause or pause, also when the provider repeats them', async () => {
    const told: unknown[] = []
    for (const answer of [{ status: 401, text: `Incorrect API key provided: ${KEY}.` }, { status: 429, text: KEY },
      { text: 'x', streamError: KEY }, { status: 500, text: KEY }]) {
      const { url } = await server(() => answer)
      const models = modelsAt(url, { onPause: (pause) => void told.push(pause), maxTries: 2 })
      for (const provider of ['anthropic', 'openai', 'compatible']) {
        const error: unknown = await ask(models.open(`${provider}/x`)).catch((caught: unknown) => caught)
        expect(error).toMatchObject({ name: 'CadreError' })
        for (let e = error; e instanceof Error; e = e.cause) told.push(e.message, e.stack, Object.entries(e))
      }
    }
    expect(JSON.stringify(told)).toContain('[key]')
    expect(JSON.stringify(told)).not.toContain(KEY)
  })
})

describe('start-up', () => {
  test('loads no provider package and no zod before a model is opened', () => {
    const code = `
      const { createModels } = await import('./src/models/models.ts')
      createModels({ providers: {}, env: { ANTHROPIC_API_KEY: 'x' }, aliases: {} }).resolve('claude-x', null)
      process.stdout.write(JSON.stringify(globalThis.seen))`
    const hooks = `
      import { registerHooks } from 'node:module'
      globalThis.seen = []
      registerHooks({ load(url, context, next) { globalThis.seen.push(url); return next(url, context) } })`
    const { stdout, stderr, status } = spawnSync(process.execPath,
      ['--import', `data:text/javascript,${encodeURIComponent(hooks)}`, '--input-type=module', '-e', code], { encoding: 'utf8' })
    expect(stderr).toBe('')
    expect(status).toBe(0)
    expect(stdout).toContain('src/models/models.ts')
    expect(stdout).not.toMatch(/node_modules/)
  })
})
