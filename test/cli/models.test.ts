import { describe, expect, test } from 'vitest'
import { startProviderServer } from '../server/provider-server.ts'
import { cliPlace } from './place.ts'

const KEY = 'sk-test-never-to-be-printed'

describe('MOD-09: cadre models', () => {
  test('it lists providers that can be used, their models and prices, aliases, and never a key', async () => {
    const server = await startProviderServer({ script: () => ({ text: '' }), models: ['claude-opus-5-5', 'homemade'] })
    const place = cliPlace({
      'cadre/settings.json': JSON.stringify({
        modelAliases: { deep: 'anthropic/claude-opus-5-5', lost: 'nowhere/x' }, prices: { 'anthropic/homemade': { input: 1, output: 2.5 } },
      }),
    })
    const env = { ANTHROPIC_BASE_URL: server.url, ANTHROPIC_API_KEY: KEY, OLLAMA_HOST: server.url }
    const { stdout, stderr, code } = await place.cadre(['models'], { env })
    const json = await place.json(['models'], { env })
    await server.close()
    expect(code).toBe(0)
    expect(stdout).toMatch(/^anthropic +ANTHROPIC_API_KEY +2 models +http:\/\/127/m)
    expect(stdout).toMatch(/^ollama +local +2 models/m)
    expect(stdout).toMatch(/^anthropic\/claude-opus-5-5 +4 +20 +0\.2 +5$/m)
    expect(stdout).toMatch(/^anthropic\/homemade +1 +2\.5 /m)
    expect(stdout).toMatch(/^ollama\/homemade +free$/m)
    expect(stdout).toMatch(/^deep +anthropic\/claude-opus-5-5 +4 +20/m)
    expect(stdout).toMatch(/^lost +no known model/m)
    expect(stderr).toContain('No model is set')
    expect(json).toMatchObject({
      model: null,
      providers: [{ provider: 'anthropic', keyEnv: 'ANTHROPIC_API_KEY' }, { provider: 'ollama', local: true }],
      aliases: [{ name: 'deep' }, { name: 'lost', model: null }],
    })
    expect(stdout + stderr + JSON.stringify(json)).not.toContain(KEY)
  })

  test('a server that refuses the key is listed with what it said', async () => {
    const place = cliPlace()
    const { stdout, code } = await place.cadre(['models'], { env: { OPENAI_BASE_URL: 'http://127.0.0.1:9/v1', OPENAI_API_KEY: KEY } })
    expect(code).toBe(0)
    expect(stdout).toMatch(/^openai +OPENAI_API_KEY +its models cannot be listed: .+/m)
    expect(stdout).not.toContain(KEY)
  })

  test('with nothing to use it says what to do', async () => {
    expect(await cliPlace().cadre(['models'])).toMatchObject({
      code: 0, stdout: '', stderr: expect.stringMatching(/^No provider can be used: .* Set a key, or start Ollama or LM Studio\.\n$/),
    })
  })
})
