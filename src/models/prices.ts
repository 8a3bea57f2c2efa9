import type { Usage } from '../core/contract.ts'

/** USD per million tokens. Cache writes cost `cacheWrite` at 5 minutes and `cacheWriteHour` (`cacheWrite` when left out) at one hour. */
export type Price = {
  readonly input: number
  readonly output: number
  readonly cacheRead: number
  readonly cacheWrite: number
  readonly cacheWriteHour?: number
  /** The price of a whole request whose prompt (cached parts included) is longer than `above` tokens. */
  readonly long?: { readonly above: number } & Omit<Price, 'long'>
}

const TOKENS_PER_UNIT = 1_000_000

/** Anthropic's multiples of the input price for cache writes of 5 minutes and one hour. */
const claude = (input: number, output: number, cacheRead: number): Price =>
  ({ input, output, cacheRead, cacheWrite: input * 1.25, cacheWriteHour: input * 2 })

/** Providers that cache by themselves and charge nothing extra for the write. */
const implicit = (input: number, output: number, cacheRead: number): Price => ({ input, output, cacheRead, cacheWrite: input })

const FREE: Price = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 }

/**
 * List prices of the standard tier, as read in November 2026. They change, and nothing here follows them: `prices.<model>` in settings
 * wins.
 * Promotional prices and models whose price could not be confirmed are left out on purpose: such a model counts as unpriced (BUD-05).
 * Sources: platform.claude.com/docs (models and pricing); developers.openai.com/api/docs/pricing and the price table in github/docs;
 * ai.google.dev/gemini-api/docs/pricing.
 */
const PRICES: Readonly<Record<string, Price>> = {
  'anthropic/claude-fable-5-1': claude(10, 50, 0.25),
  'anthropic/claude-fable-5': claude(10, 50, 1),
  'anthropic/claude-opus-5-5': claude(4, 20, 0.2),
  'anthropic/claude-opus-5': claude(5, 25, 0.5),
  'anthropic/claude-opus-4-8': claude(5, 25, 0.5),
  'anthropic/claude-opus-4-7': claude(5, 25, 0.5),
  'anthropic/claude-opus-4-6': claude(5, 25, 0.5),
  'anthropic/claude-opus-4-5': claude(5, 25, 0.5),
  'anthropic/claude-opus-4-1': claude(15, 75, 1.5),
  'anthropic/claude-sonnet-5-5': claude(2, 10, 0.1),
  'anthropic/claude-sonnet-5': claude(2, 10, 0.2),
  'anthropic/claude-sonnet-4-6': claude(3, 15, 0.3),
  'anthropic/claude-sonnet-4-5': claude(3, 15, 0.3),
  'anthropic/claude-haiku-5-5': { ...claude(0.1, 0.5, 0.01), long: { above: 100_000, ...claude(0.5, 2.5, 0.05) } },
  'anthropic/claude-haiku-4-5': claude(1, 5, 0.1),
  'openai/gpt-5.6-terra': { ...claude(2, 12, 0.2), long: { above: 272_000, ...claude(4, 18, 0.4) } },
  'openai/gpt-5.6-luna': { ...claude(0.2, 1.2, 0.02), long: { above: 200_000, ...claude(0.4, 1.8, 0.04) } },
  'openai/gpt-5.5': { ...implicit(5, 30, 0.5), long: { above: 272_000, ...implicit(10, 45, 1) } },
  'openai/gpt-5.4': { ...implicit(2.5, 15, 0.25), long: { above: 272_000, ...implicit(5, 22.5, 0.5) } },
  'openai/gpt-5.4-mini': implicit(0.75, 4.5, 0.075),
  'openai/gpt-5.4-nano': implicit(0.2, 1.25, 0.02),
  'openai/gpt-5-mini': implicit(0.25, 2, 0.025),
  'google/gemini-3.5-flash': implicit(1.5, 9, 0.15),
  'google/gemini-3.1-pro-preview': { ...implicit(2, 12, 0.2), long: { above: 200_000, ...implicit(4, 18, 0.4) } },
  'google/gemini-2.5-pro': { ...implicit(1.25, 10, 0.125), long: { above: 200_000, ...implicit(2.5, 15, 0.25) } },
}

/** A snapshot's date at the end of an id: `-20250929`, `-2026-03-05`, `@20250929`. */
const DATE = /[-@](?:\d{8}|\d{4}-\d{2}-\d{2})$/

/** What `<provider>/<model>` costs: the user's own price, else the table's, each also without a snapshot's date. Local providers are free. */
export function priceOf(id: string, own: Readonly<Record<string, Price>>, isLocal: (provider: string) => boolean): Price | undefined {
  const undated = id.replace(DATE, '')
  const bare = id.slice(id.indexOf('/') + 1)
  for (const key of [id, undated, bare, bare.replace(DATE, '')]) if (Object.hasOwn(own, key)) return own[key]
  for (const key of [id, undated]) if (Object.hasOwn(PRICES, key)) return PRICES[key]
  return isLocal(id.slice(0, Math.max(0, id.indexOf('/')))) ? FREE : undefined
}

/** What one request cost, in USD. */
export function costOf(price: Price, usage: Usage, cacheTtl: '5m' | '1h'): number {
  const prompt = usage.input + usage.cacheRead + usage.cacheWrite
  const rate = price.long && prompt > price.long.above ? price.long : price
  const write = cacheTtl === '1h' ? (rate.cacheWriteHour ?? rate.cacheWrite) : rate.cacheWrite
  const cached = usage.cacheRead * rate.cacheRead + usage.cacheWrite * write
  return (usage.input * rate.input + usage.output * rate.output + cached) / TOKENS_PER_UNIT
}
