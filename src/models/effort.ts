import type { LanguageModelV4CallOptions } from '@ai-sdk/provider'
import type { Effort } from '../core/contract.ts'
import type { ProviderSettings } from './provider-settings.ts'

/** The least budget Anthropic's wire accepts, in tokens. */
const MIN_THINKING_TOKENS = 1_024

/** Up to how many thinking tokens a number means `low` or `medium` to a wire that knows words only. */
const WORDS = { low: 4_096, medium: 16_384 } as const

export type EffortOptions = Pick<LanguageModelV4CallOptions, 'reasoning' | 'providerOptions'>

/** An agent's effort as call options: a word is the packages' own scale; a number is a budget of thinking tokens where the wire has one. */
export function effortOptions(effort: Effort | undefined, type: ProviderSettings['type']): EffortOptions {
  if (effort === undefined) return {}
  if (typeof effort === 'string') return { reasoning: effort }
  switch (type) {
    case 'anthropic': {
      const budgetTokens = Math.max(MIN_THINKING_TOKENS, Math.round(effort))
      return { providerOptions: { anthropic: { thinking: { type: 'enabled', budgetTokens } } } }
    }
    case 'google':
      return { providerOptions: { google: { thinkingConfig: { thinkingBudget: Math.round(effort) } } } }
    case 'openai':
    case 'openai-compatible':
      return { reasoning: effort <= WORDS.low ? 'low' : effort <= WORDS.medium ? 'medium' : 'high' }
  }
}
