import { messageOf } from '../core/errors.ts'
import { isObject, type Json } from '../core/json.ts'
import type { Body } from './http-fetch.ts'
import type { Price } from './prices.ts'
import { providerFetch } from './provider-fetch.ts'
import { type Environment, keyOf, type Provider } from './provider-settings.ts'
import { redact } from './redact.ts'
import { TryFailure } from './try-failure.ts'

/** A provider that can be used now (MOD-09): it has a key, needs none, or is a local server that answered. */
export type ProviderListing = {
  readonly provider: string
  readonly baseUrl: string
  readonly local: boolean
  /** The variable its key is in; null when it needs none. */
  readonly keyEnv: string | null
  /** Full ids with their prices; empty when the server cannot list them. */
  readonly models: readonly { readonly id: string; readonly price: Price | null }[]
  /** Why the server listed nothing; null when it did. */
  readonly problem: string | null
}

/** How long a server may take to list its models, in ms. One on this machine that does not answer at once is not there. */
const LIST_TIMEOUT_MS = { local: 1_000, remote: 5_000 } as const

/** Lists one provider; null when it cannot be used. Never rejects. */
export async function listProvider(
  provider: Provider, env: Environment, secrets: readonly string[], price: (id: string) => Price | undefined, signal: AbortSignal,
): Promise<ProviderListing | null> {
  const key = keyOf(provider, env)
  const { baseUrl } = provider
  if (baseUrl === null || (provider.keyEnv.length > 0 && key === null)) return null
  let names = provider.models
  let problem: string | null = null
  if (names === null || provider.local) {
    try {
      const limit = AbortSignal.timeout(LIST_TIMEOUT_MS[provider.local ? 'local' : 'remote'])
      const listed = await fetchNames(provider, baseUrl, key?.value ?? null, AbortSignal.any([signal, limit]))
      names ??= listed
    } catch (error) {
      if (provider.local) return null
      const remedy = error instanceof TryFailure && error.kind === 'redirect' ? `; if it moved, set providers.${provider.name}.baseUrl` : ''
      problem = redact(`its models cannot be listed: ${messageOf(error)}${remedy}`, secrets)
    }
  }
  return {
    provider: provider.name,
    baseUrl,
    local: provider.local,
    keyEnv: key?.name ?? null,
    models: (names ?? []).map((name) => `${provider.name}/${name}`).map((id) => ({ id, price: price(id) ?? null })),
    problem,
  }
}

async function fetchNames(provider: Provider, baseUrl: string, key: string | null, signal: AbortSignal): Promise<readonly string[]> {
  const { url, headers } = listRequest(provider, baseUrl, key)
  const answer = await providerFetch(url, { headers: { ...headers, ...provider.headers }, signal })
  if (!answer.ok) throw new Error(`${answer.status} ${answer.statusText}`.trim())
  const body: unknown = JSON.parse(await textOf(answer.body))
  if (!isObject(body)) throw new Error('the answer is no list of models')
  const list = Array.isArray(body['data']) ? body['data'] : body['models']
  if (!Array.isArray(list)) throw new Error('the answer is no list of models')
  return list.flatMap((entry: Json) => nameOf(entry))
}

/** All of a body. */
async function textOf(body: Body): Promise<string> {
  const reader = body.getReader()
  const decoder = new TextDecoder()
  let text = ''
  for (let next = await reader.read(); !next.done; next = await reader.read()) text += decoder.decode(next.value, { stream: true })
  return text + decoder.decode()
}

type ListRequest = { readonly url: string; readonly headers: Readonly<Record<string, string>> }

function listRequest(provider: Provider, baseUrl: string, key: string | null): ListRequest {
  switch (provider.type) {
    case 'anthropic': {
      const version = { 'anthropic-version': '2023-06-01' }
      return { url: `${baseUrl}/models?limit=1000`, headers: key === null ? version : { ...version, 'x-api-key': key } }
    }
    case 'google':
      return { url: `${baseUrl}/models?pageSize=1000`, headers: key === null ? {} : { 'x-goog-api-key': key } }
    case 'openai':
    case 'openai-compatible':
      // Ollama's own list also names models its OpenAI one leaves out on older versions.
      if (provider.name === 'ollama') return { url: `${baseUrl.replace(/\/v1$/, '')}/api/tags`, headers: {} }
      return { url: `${baseUrl}/models`, headers: key === null ? {} : { authorization: `Bearer ${key}` } }
  }
}

/** `id` on the Anthropic and OpenAI wires, `name` on Ollama's; Google writes `models/<name>` and says which models can chat. */
function nameOf(entry: Json): readonly string[] {
  if (!isObject(entry)) return []
  const name = entry['id'] ?? entry['name']
  const methods = entry['supportedGenerationMethods']
  if (typeof name !== 'string' || (Array.isArray(methods) && !methods.includes('generateContent'))) return []
  return [name.replace(/^models\//, '')]
}
