import { setTimeout as delay } from 'node:timers/promises'
import type { LanguageModelV4 } from '@ai-sdk/provider'
import type { Model, Usage } from '../core/contract.ts'
import { CadreError } from '../core/errors.ts'
import { governed, type LostUsage, type Pause } from './governed.ts'
import { type LanguageModelMaker, loadLanguageModel } from './language-model.ts'
import { listProvider, type ProviderListing } from './list-models.ts'
import { costOf, type Price, priceOf } from './prices.ts'
import { providerModel } from './provider.ts'
import { type Environment, keyOf, knownProviders, type Provider, type ProviderSettings, secretsOf } from './provider-settings.ts'
import { remedyFor } from './remedy.ts'
import { type ResolvedModel, resolveModel } from './resolve-model.ts'

export type { LostUsage, Pause } from './governed.ts'
export type { ProviderListing } from './list-models.ts'
export type { Price } from './prices.ts'
export type { ProviderSettings } from './provider-settings.ts'
export type { ResolvedModel } from './resolve-model.ts'

export type ModelsOptions = {
  /** Settings `providers`: added to the built-in ones, or laid over them (MOD-08). */
  readonly providers: Readonly<Record<string, ProviderSettings>>
  /** Where keys and base URLs come from, usually `process.env`. */
  readonly env: Environment
  readonly aliases: Readonly<Record<string, string>>
  /** Prices of the user's own, by full id or bare model name. */
  readonly prices?: Readonly<Record<string, Price>>
  /** Tries of one call in all (6). */
  readonly maxTries?: number
  /** After this many seconds without a byte a try is given up (120). */
  readonly silenceSeconds?: number
  /** Told of every wait before another try. */
  onPause?(pause: Pause): void
  /** Told of usage that no reply carries: the call failed for good or was stopped after the provider had counted. */
  onLostUsage?(lost: LostUsage): void
  /** Replaces the clock in tests: resolves after `ms`, rejects with the signal's reason. */
  sleep?(ms: number, signal: AbortSignal): Promise<void>
}

export type Models = {
  /**
   * MOD-01, MOD-02: what a written model (alias, id, `<provider>/<model>`, dated id, `Claude Sonnet 4.5`) means. `id` null: it inherits
   * `parent`, which the warning names. Throws UNKNOWN_PROVIDER.
   */
  resolve(written: string, parent: string | null): ResolvedModel
  /** The model of a full id. Starts to load the provider's package. Throws UNKNOWN_PROVIDER, or SETTINGS when a key or URL is missing. */
  open(id: string): Model
  /** MOD-09: the providers that can be used now, in the order they are known. Never rejects. */
  list(): Promise<readonly ProviderListing[]>
  /** USD per million tokens; undefined when nobody knows (BUD-05). */
  price(id: string): Price | undefined
  /** USD of one request; null when the model has no price. `cacheTtl` (5m) is the time its cache writes were asked for. */
  cost(id: string, usage: Usage, cacheTtl?: '5m' | '1h'): number | null
  /** All values that must appear in no event, record or log (JRN-08). */
  keys(): readonly string[]
  /** Ends all calls and waits: they reject with STOPPED. */
  close(): void
}

const DEFAULTS = { maxTries: 6, silenceSeconds: 120 } as const

/** The door to all providers. Cheap: it reads settings, and loads nothing before `open`. */
export function createModels(options: ModelsOptions): Models {
  const { env } = options
  const providers = knownProviders(options.providers, env)
  const byLowerName = new Map([...providers.keys()].map((name) => [name.toLowerCase(), name]))
  const packages = new Map<string, Promise<LanguageModelMaker>>()
  const models = new Map<string, Promise<LanguageModelV4>>()
  const closed = new AbortController()
  const secrets = [...new Set([...providers.values()].flatMap((provider) => secretsOf(provider, env)))]

  /** The package's model of an id, made once. A failure to load is the first call's to report, not an unhandled rejection now. */
  const languageModel = (provider: Provider, baseUrl: string, id: string): Promise<LanguageModelV4> => {
    const known = models.get(id)
    if (known) return known
    const loading = packages.get(provider.name) ?? loadLanguageModel(provider, baseUrl, keyOf(provider, env)?.value ?? null)
    const model = loading.then((make) => make(id.slice(provider.name.length + 1)))
    model.catch(() => {})
    packages.set(provider.name, loading)
    models.set(id, model)
    return model
  }

  const price = (id: string): Price | undefined => priceOf(id, options.prices ?? {}, (name) => providers.get(name)?.local ?? false)

  return {
    resolve: (written, parent) => resolveModel(written, parent, { providers: byLowerName, aliases: options.aliases }),

    open(written) {
      const { provider, id } = providerOf(written, providers, byLowerName)
      const baseUrl = checkedUrl(provider, id)
      if (provider.keyEnv.length > 0 && keyOf(provider, env) === null) {
        const variables = provider.keyEnv.join(' or ')
        throw new CadreError('SETTINGS', `No key for ${provider.name}: set ${variables} to use ${id}, or choose another model.`)
      }
      const model = providerModel({
        id,
        type: provider.type,
        model: languageModel(provider, baseUrl, id),
        silenceMs: (options.silenceSeconds ?? DEFAULTS.silenceSeconds) * 1_000,
        secrets,
      })
      return stoppable(governed(model, {
        provider: provider.name,
        maxTries: options.maxTries ?? DEFAULTS.maxTries,
        sleep: options.sleep ?? sleepUntil,
        onPause: (pause) => options.onPause?.(pause),
        onLostUsage: (lost) => options.onLostUsage?.(lost),
        remedy: (failure) => remedyFor(failure, provider, id, env),
      }), closed.signal)
    },

    async list() {
      const asked = [...providers.values()].map((provider) => listProvider(provider, env, secrets, price, closed.signal))
      const listings = await Promise.all(asked)
      return listings.filter((listing) => listing !== null)
    },

    price,

    cost(id, usage, cacheTtl = '5m') {
      const known = price(id)
      return known ? costOf(known, usage, cacheTtl) : null
    },

    keys: () => secrets,

    close: () => closed.abort(new CadreError('STOPPED', 'The models were closed while a call was under way.')),
  }
}

type Opened = { readonly provider: Provider; readonly id: string }

function providerOf(id: string, providers: ReadonlyMap<string, Provider>, byLowerName: ReadonlyMap<string, string>): Opened {
  const slash = id.indexOf('/')
  const name = id.slice(0, Math.max(0, slash))
  const provider = providers.get(byLowerName.get(name.toLowerCase()) ?? '')
  if (slash < 1 || slash === id.length - 1) {
    throw new CadreError('SETTINGS', `"${id}" is no full model id: write <provider>/<model>, for example anthropic/claude-sonnet-5-5.`)
  }
  if (!provider) throw new CadreError('UNKNOWN_PROVIDER', `Unknown provider "${name}". Known: ${[...providers.keys()].join(', ')}.`)
  return { provider, id: `${provider.name}/${id.slice(slash + 1)}` }
}

function checkedUrl({ name, baseUrl }: Provider, id: string): string {
  if (baseUrl === null) throw new CadreError('SETTINGS', `Provider ${name} has no address: set providers.${name}.baseUrl to use ${id}.`)
  const url = URL.parse(baseUrl)
  if (!url || !/^https?:$/.test(url.protocol)) {
    const shown = baseUrl.replace(/\/\/.*@/, '//')
    throw new CadreError(
      'SETTINGS', `The address of provider ${name} is no http(s) URL: ${shown}. Mend providers.${name}.baseUrl or its environment variable.`,
    )
  }
  return baseUrl
}

/** Node's own timer, which says AbortError: the caller is owed the signal's reason. */
async function sleepUntil(ms: number, signal: AbortSignal): Promise<void> {
  try {
    await delay(ms, undefined, { signal })
  } catch (error) {
    signal.throwIfAborted()
    throw error
  }
}

/** A model whose calls also end when all models are closed. */
const stoppable = (model: Model, closed: AbortSignal): Model => ({
  ...model,
  async generate(request, context) {
    const either = new AbortController()
    const forward = (): void => either.abort(closed.aborted ? closed.reason : context.signal.reason)
    if (closed.aborted || context.signal.aborted) forward()
    closed.addEventListener('abort', forward, { once: true })
    context.signal.addEventListener('abort', forward, { once: true })
    try {
      return await model.generate(request, { ...context, signal: either.signal })
    } finally {
      closed.removeEventListener('abort', forward)
      context.signal.removeEventListener('abort', forward)
    }
  },
})
