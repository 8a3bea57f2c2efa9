import { MIN_SECRET_CHARS, SECRET_HEADER } from '../core/secrets.ts'
/** A provider as settings write it (MOD-08). Times and sizes: none. `models` names what a server that cannot list its models offers. */
export type ProviderSettings = {
  readonly type: 'anthropic' | 'openai' | 'openai-compatible' | 'google'
  readonly baseUrl?: string
  /** The environment variable that holds the key. Without it a provider of one's own is called without a key. */
  readonly apiKeyEnv?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly models?: readonly string[]
}

export type Environment = Readonly<Record<string, string | undefined>>

/** A provider with nothing left open but the key's value. */
export type Provider = {
  readonly name: string
  readonly type: ProviderSettings['type']
  /** With version, without a slash at the end; null when settings name none. */
  readonly baseUrl: string | null
  /** Where a key may be, first one first; empty when it needs none. */
  readonly keyEnv: readonly string[]
  readonly headers: Readonly<Record<string, string>>
  readonly models: readonly string[] | null
  /** Runs on this machine: no key, no price, and listed only while it answers. */
  readonly local: boolean
}

type BuiltIn = Omit<Provider, 'name' | 'baseUrl' | 'headers' | 'models'> & { readonly url: string; readonly urlEnv?: string }

const BUILT_IN: Readonly<Record<string, BuiltIn>> = {
  anthropic: {
    type: 'anthropic', url: 'https://api.anthropic.com', urlEnv: 'ANTHROPIC_BASE_URL', keyEnv: ['ANTHROPIC_API_KEY'], local: false,
  },
  openai: { type: 'openai', url: 'https://api.openai.com', urlEnv: 'OPENAI_BASE_URL', keyEnv: ['OPENAI_API_KEY'], local: false },
  google: {
    type: 'google', url: 'https://generativelanguage.googleapis.com',
    keyEnv: ['GEMINI_API_KEY', 'GOOGLE_GENERATIVE_AI_API_KEY', 'GOOGLE_API_KEY'], local: false,
  },
  openrouter: { type: 'openai-compatible', url: 'https://openrouter.ai/api/v1', keyEnv: ['OPENROUTER_API_KEY'], local: false },
  ollama: { type: 'openai-compatible', url: 'http://127.0.0.1:11434', urlEnv: 'OLLAMA_HOST', keyEnv: [], local: true },
  lmstudio: { type: 'openai-compatible', url: 'http://127.0.0.1:1234', keyEnv: [], local: true },
}

const OLLAMA_PORT = '11434'

/** All providers by name: the built-in ones, and those of settings added to or laid over them (MOD-08). */
export function knownProviders(settings: Readonly<Record<string, ProviderSettings>>, env: Environment): ReadonlyMap<string, Provider> {
  const known = new Map<string, Provider>()
  for (const [name, { url, urlEnv, ...builtIn }] of Object.entries(BUILT_IN)) {
    const fromEnv = urlEnv && env[urlEnv]?.trim()
    const address = split(fromEnv ? (name === 'ollama' ? ollamaUrl(fromEnv) : fromEnv) : url)
    known.set(name, { name, ...builtIn, baseUrl: versioned(address.url, builtIn.type), headers: address.headers, models: null })
  }
  for (const [name, own] of Object.entries(settings)) {
    const below = known.get(name)
    const address = own.baseUrl === undefined ? null : split(own.baseUrl)
    known.set(name, {
      name,
      type: own.type,
      baseUrl: address ? versioned(address.url, own.type) : (below?.baseUrl ?? defaultUrl(own.type)),
      keyEnv: own.apiKeyEnv === undefined ? (below?.keyEnv ?? []) : [own.apiKeyEnv],
      headers: { ...(address ?? below)?.headers, ...lowerCaseNames(own.headers ?? {}) },
      models: own.models ?? null,
      local: below?.local ?? false,
    })
  }
  return known
}

/** The key of a provider and the variable it is in; null when no variable is set. */
export function keyOf(provider: Provider, env: Environment): { readonly name: string; readonly value: string } | null {
  for (const name of provider.keyEnv) {
    const value = env[name]?.trim()
    if (value) return { name, value }
  }
  return null
}

/** Every secret a provider would send: its key and the values of secret headers, whole and without their scheme (JRN-08). */
export function secretsOf(provider: Provider, env: Environment): readonly string[] {
  const key = keyOf(provider, env)?.value
  const headers = Object.entries(provider.headers)
    .filter(([name]) => SECRET_HEADER.test(name))
    .flatMap(([, value]) => [value, value.slice(value.indexOf(' ') + 1)])
  return [...(key ? [key] : []), ...headers].filter((secret) => secret.length >= MIN_SECRET_CHARS)
}

/** One spelling of each name, so that a header of settings replaces the one a package would send. */
const lowerCaseNames = (headers: Readonly<Record<string, string>>): Readonly<Record<string, string>> =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]))

/** An address without its user name and password, which go into a header: fetch refuses them in a URL, and no message must show them. */
function split(written: string): { readonly url: string; readonly headers: Readonly<Record<string, string>> } {
  const url = URL.parse(written.trim())
  if (!url || (url.username === '' && url.password === '')) return { url: written.trim(), headers: {} }
  const basic = Buffer.from(`${decoded(url.username)}:${decoded(url.password)}`).toString('base64')
  url.username = ''
  url.password = ''
  return { url: url.href, headers: { authorization: `Basic ${basic}` } }
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    // A lone % is meant as it stands.
    return part
  }
}

const defaultUrl = (type: ProviderSettings['type']): string | null => {
  if (type === 'openai-compatible') return null
  return versioned(BUILT_IN[type]?.url ?? '', type)
}

/**
 * The URL that `/messages`, `/chat/completions` or `/models/…` is put after. Anthropic's own variable is written without `/v1`, OpenAI's
 * with it: so a bare host gets the usual version, and Anthropic's wire gets it after any path.
 */
function versioned(written: string, type: ProviderSettings['type']): string {
  const url = written.trim().replace(/\/+$/, '')
  const path = URL.parse(url)?.pathname ?? ''
  if (type === 'anthropic') return /\/v\d+$/.test(path) ? url : `${url}/v1`
  if (path !== '' && path !== '/') return url
  return `${url}/${type === 'google' ? 'v1beta' : 'v1'}`
}

/** OLLAMA_HOST as Ollama itself reads it: host, host:port, :port or a URL. A server that listens everywhere is called on the loopback. */
function ollamaUrl(written: string): string {
  const url = URL.parse(/^https?:\/\//i.test(written) ? written : `http://${written.startsWith(':') ? '127.0.0.1' : ''}${written}`)
  if (!url) return written
  if (url.hostname === '0.0.0.0' || url.hostname === '[::]') url.hostname = '127.0.0.1'
  if (url.port === '' && !/^https?:\/\//i.test(written)) url.port = OLLAMA_PORT
  return url.href
}
