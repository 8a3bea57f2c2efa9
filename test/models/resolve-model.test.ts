import { assert, oneof, property, string } from 'fast-check'
import { describe, expect, test } from 'vitest'
import { CadreError } from '../../src/core/errors.ts'
import { createModels } from '../../src/models/models.ts'

const models = createModels({
  providers: { 'My-Gateway': { type: 'openai-compatible', baseUrl: 'http://127.0.0.1:1/v1' },
    xai: { type: 'openai-compatible', baseUrl: 'http://127.0.0.1:2/v1' } },
  env: {},
  aliases: { sonnet: 'anthropic/claude-sonnet-5-5', Fast: 'haiku', haiku: 'claude-haiku-5-5', loop: 'pool', pool: 'loop', same: 'same',
    'gpt-5': 'gpt-5', gone: 'nowhere/x', up: 'inherit' },
})

const PARENT = 'openai/gpt-5.4'

describe('MOD-01: a written model', () => {
  test.each([
    ['anthropic/claude-sonnet-5-5', 'anthropic/claude-sonnet-5-5'],
    ['Anthropic/claude-sonnet-5-5', 'anthropic/claude-sonnet-5-5'],
    ['my-gateway/Some-Model:7b', 'My-Gateway/Some-Model:7b'],
    ['openrouter/meta-llama/llama-4', 'openrouter/meta-llama/llama-4'],
    ['ollama/qwen3:8b', 'ollama/qwen3:8b'],
    ['claude-sonnet-4-5', 'anthropic/claude-sonnet-4-5'],
    ['claude-sonnet-4-5-20250929', 'anthropic/claude-sonnet-4-5-20250929'],
    ['claude-opus-5-5[1m]', 'anthropic/claude-opus-5-5'],
    ['Claude Sonnet 4.5', 'anthropic/claude-sonnet-4-5'],
    ['Claude Sonnet 4.5 (copilot)', 'anthropic/claude-sonnet-4-5'],
    ['claude sonnet 4', 'anthropic/claude-sonnet-4-0'],
    ['Claude Haiku 5.5', 'anthropic/claude-haiku-5-5'],
    ['gpt-5', 'openai/gpt-5'],
    ['GPT-4.1', 'openai/gpt-4.1'],
    ['GPT-5.4 mini', 'openai/gpt-5.4-mini'],
    ['o3', 'openai/o3'],
    ['o4-mini', 'openai/o4-mini'],
    ['Gemini 2.5 Pro', 'google/gemini-2.5-pro'],
    ['grok-4.6', 'xai/grok-4.6'],
    ['  claude-opus-5  ', 'anthropic/claude-opus-5'],
  ])('%s is %s', (written, id) => {
    expect(models.resolve(written, PARENT)).toEqual({ id })
  })

  const UNKNOWN = ['unheard-of', 'opusplan', 'o', 'omega', 'gpt5', '/x', 'anthropic/', 'us.anthropic.claude', 'claude']
  test.each(UNKNOWN)('%s warns and inherits', (written) => {
    const { id, warning } = models.resolve(written, PARENT)
    expect(id).toBe(null)
    expect(warning).toContain(`"${written}"`)
    expect(warning).toContain(PARENT)
  })

  test.each([
    ['nowhere/x', 'nowhere'], ['mistral-large', 'mistral'], ['deepseek-chat', 'deepseek'], ['gone', 'nowhere'], ['__proto__/x', '__proto__'],
  ])(
    '%s is an error that names the known providers', (written, provider) => {
      expect(() => models.resolve(written, PARENT)).toThrow(expect.objectContaining({
        code: 'UNKNOWN_PROVIDER',
        message: `Unknown provider "${provider}". Known: anthropic, openai, google, openrouter, ollama, lmstudio, My-Gateway, xai.`,
      }))
    })

  test('any text at all is an id of a known provider, inherits, or is an unknown provider: nothing else', () => {
    assert(property(oneof(string(), string().map((text) => `claude-${text}`), string().map((text) => `ollama/${text}`)), (written) => {
      try {
        const { id, warning } = models.resolve(written, null)
        if (id === null) expect(warning === undefined || warning.includes('runs on')).toBe(true)
        else expect(id).toMatch(/^(anthropic|openai|google|openrouter|ollama|lmstudio|My-Gateway|xai)\/./)
      } catch (error) {
        expect(error).toBeInstanceOf(CadreError)
        expect(error).toMatchObject({ code: 'UNKNOWN_PROVIDER' })
      }
    }))
  })
})

describe('MOD-02: aliases', () => {
  test.each([
    ['sonnet', 'anthropic/claude-sonnet-5-5'],
    ['SONNET', 'anthropic/claude-sonnet-5-5'],
    ['fast', 'anthropic/claude-haiku-5-5'],
    ['gpt-5', 'openai/gpt-5'],
  ])('%s is %s', (written, id) => {
    expect(models.resolve(written, PARENT)).toEqual({ id })
  })

  test.each(['opus', 'Fable'])('%s, unmapped, runs on the parent\'s model with one warning', (written) => {
    expect(models.resolve(written, PARENT)).toEqual({
      id: null,
      warning: `Model alias "${written}" is not mapped; the agent runs on its parent's model, ${PARENT}. ` +
        `Set modelAliases.${written.toLowerCase()} to choose one.`,
    })
  })

  test.each(['inherit', 'Inherit', '', ' ', 'up'])('"%s" inherits without a word', (written) => {
    expect(models.resolve(written, PARENT)).toEqual({ id: null })
  })

  test('aliases in a circle warn and inherit', () => {
    expect(models.resolve('loop', PARENT)).toMatchObject({ id: null, warning: expect.stringContaining('leads back to itself') as string })
    expect(models.resolve('same', PARENT).id).toBe(null)
  })
})
