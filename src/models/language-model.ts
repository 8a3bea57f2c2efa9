import type { LanguageModelV4 } from '@ai-sdk/provider'
import type { Provider } from './provider-settings.ts'

export type Fetch = typeof globalThis.fetch

/** Makes the package's model for one call; the call's own `fetch` watches its bytes. */
export type LanguageModelMaker = (modelId: string, fetch: Fetch) => LanguageModelV4

/**
 * Loads the package of a provider's type; each costs about 100 ms of CPU, so none is loaded before it is needed. Key and base URL are always
 * given, so that a package never reads the environment itself. `name` sets where a package looks for its options: only the compatible one
 * needs it.
 */
export async function loadLanguageModel(provider: Provider, baseURL: string, key: string | null): Promise<LanguageModelMaker> {
  const settings = { baseURL, apiKey: key ?? '', headers: provider.headers }
  switch (provider.type) {
    case 'anthropic': {
      const { createAnthropic } = await import('@ai-sdk/anthropic')
      return (modelId, fetch) => createAnthropic({ ...settings, fetch })(modelId)
    }
    case 'openai': {
      const { createOpenAI } = await import('@ai-sdk/openai')
      return (modelId, fetch) => createOpenAI({ ...settings, fetch }).chat(modelId)
    }
    case 'openai-compatible': {
      const { createOpenAICompatible } = await import('@ai-sdk/openai-compatible')
      return (modelId, fetch) => createOpenAICompatible({ ...settings, name: provider.name, includeUsage: true, fetch }).chatModel(modelId)
    }
    case 'google': {
      const { createGoogleGenerativeAI } = await import('@ai-sdk/google')
      return (modelId, fetch) => createGoogleGenerativeAI({ ...settings, fetch })(modelId)
    }
  }
}
