import { describe, expect, test } from 'vitest'
import { createModels } from '../../src/models/models.ts'

const models = createModels({
  providers: {},
  env: {},
  aliases: {},
  prices: { 'anthropic/claude-opus-5': { input: 1, output: 2, cacheRead: 3, cacheWrite: 4 },
    'my-model': { input: 7, output: 7, cacheRead: 7, cacheWrite: 7 } },
})

const M = 1_000_000

describe('prices', () => {
  test('are per million tokens, each kind at its own', () => {
    expect(models.cost('anthropic/claude-sonnet-4-5',
      { input: M, output: M, cacheRead: M, cacheWrite: M })).toBeCloseTo(3 + 15 + 0.3 + 3.75)
    expect(models.cost('anthropic/claude-sonnet-4-5', { input: 0, output: 0, cacheRead: 0, cacheWrite: M }, '1h')).toBeCloseTo(6)
  })

  test('of a long prompt hold for the whole request, cached tokens counted', () => {
    expect(models.cost('anthropic/claude-haiku-5-5', { input: 50_000, output: 1_000, cacheRead: 50_000, cacheWrite: 0 })).toBeCloseTo(0.006)
    expect(models.cost('anthropic/claude-haiku-5-5', { input: 50_000, output: 1_000, cacheRead: 50_001, cacheWrite: 0 })).toBeCloseTo(0.03)
  })

  test('are found for dated ids, as a provider reports them', () => {
    expect(models.price('anthropic/claude-haiku-4-5-20251001')).toEqual(models.price('anthropic/claude-haiku-4-5'))
    expect(models.price('openai/gpt-5.4-2026-03-05')).toEqual(models.price('openai/gpt-5.4'))
  })

  test('of the user win, by full id or by name alone', () => {
    expect(models.price('anthropic/claude-opus-5')?.input).toBe(1)
    expect(models.price('openrouter/my-model')?.input).toBe(7)
  })

  test('of local models are zero; of unknown ones there are none', () => {
    expect(models.cost('ollama/anything', { input: M, output: M, cacheRead: 0, cacheWrite: 0 })).toBe(0)
    for (const id of ['openai/gpt-99', 'nowhere/claude-sonnet-4-5', 'script', '', 'anthropic/toString', 'constructor']) {
      expect(models.price(id)).toBe(undefined)
      expect(models.cost(id, { input: 1, output: 1, cacheRead: 0, cacheWrite: 0 })).toBe(null)
    }
  })
})
