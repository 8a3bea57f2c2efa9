import type { LanguageModelV4 } from '@ai-sdk/provider'
import { callFetch } from './call-fetch.ts'
import type { Provider } from './provider-settings.ts'

/** Makes the package's model of an id. */
export type LanguageModelMaker = (modelId: string) => LanguageModelV4

/**
 * Loads the package of a provider's type; each costs about 100 ms of CPU, so none is loaded before it is needed. Key and base URL are
 * always given, so that a package never reads the environment itself. Make one model per id and keep it: the compatible package compiles its
 * schemas for each, at more than the price of a call. So a call's own fetch reaches the model through `callFetch`.
 */
export async function loadLanguageModel(provider: Provider, baseURL: string, key: string | null): Promise<LanguageModelMaker> {
  const settings = { baseURL, apiKey: key ?? '', headers: provider.headers, fetch: callFetch }
  switch (provider.type) {
    case 'anthropic': {
      const { createAnthropic } = await import('@ai-sdk/anthropic')
      return createAnthropic(settings)
    }
    case 'openai': {
      const { createOpenAI } = await import('@ai-sdk/openai')
      return createOpenAI(settings).chat
    }
    case 'openai-compatible': {
      const { createOpenAICompatible } = await import('@ai-sdk/openai-compatible')
      return createOpenAICompatible({ ...settings, name: provider.name, includeUsage: true }).chatModel
    }
    case 'google': {
      const { createGoogleGenerativeAI } = await import('@ai-sdk/google')
      return createGoogleGenerativeAI(settings)
    }
  }
}
