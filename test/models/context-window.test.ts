import { describe, expect, test } from 'vitest'

import { contextWindow } from '../../src/models/context-window.ts'

describe('PRO-08: a model\'s context window', () => {
  for (const [id, tokens] of [
    ['anthropic/claude-sonnet-5-5', 1_000_000],
    ['anthropic/claude-opus-4-6-20260205', 1_000_000],
    ['anthropic/claude-opus-4-20250514', 200_000],
    ['anthropic/claude-opus-4-5', 200_000],
    ['anthropic/claude-haiku-4-5-20251001', 200_000],
    ['anthropic/claude-haiku-5-5', 1_000_000],
    ['anthropic/claude-3-5-sonnet-latest', 200_000],
    ['openai/gpt-5', 272_000],
    ['openai/gpt-5-2025-08-07', 272_000],
    ['openai/gpt-5.4', 922_000],
    ['openai/gpt-5.4-mini-2026-03-17', 272_000],
    ['openai/gpt-5.6-terra', 922_000],
    ['openai/gpt-4o', 128_000],
    ['google/gemini-2.5-pro', 1_048_576],
    ['google/gemini-3.1-pro-preview', 1_000_000],
    ['openrouter/anthropic/claude-opus-4.6', 1_000_000],
    ['openrouter/openai/GPT-5.5', 922_000],
    ['ollama/qwen3:8b', 128_000],
    ['script', 128_000],
    ['', 128_000],
  ] as const) {
    test(`of ${id || 'no model'} is ${tokens.toLocaleString('en')}`, () => {
      expect(contextWindow(id)).toBe(tokens)
    })
  }
})
