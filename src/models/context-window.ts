/** What a model is taken to hold when nobody knows better. */
const UNKNOWN_TOKENS = 128_000

/**
 * Tokens a request to a model may hold, as read in November 2026, longest beginning first; dots are written as dashes. Where a provider counts
 * the longest reply into its window, that much is taken off: 272,000 of 400,000, 922,000 of 1,050,000.
 * Sources: platform.claude.com/docs (models, context windows), developers.openai.com/api/docs/models, ai.google.dev/gemini-api/docs/models.
 */
const WINDOWS: readonly (readonly [beginning: string, tokens: number])[] = ([
  ['claude-', 200_000],
  ['claude-fable-5', 1_000_000],
  ['claude-haiku-5', 1_000_000],
  ['claude-opus-4-6', 1_000_000],
  ['claude-opus-4-7', 1_000_000],
  ['claude-opus-4-8', 1_000_000],
  ['claude-opus-5', 1_000_000],
  ['claude-sonnet-4-6', 1_000_000],
  ['claude-sonnet-5', 1_000_000],
  ['gpt-4-1', 1_014_808],
  ['gpt-5', 272_000],
  ['gpt-5-4', 922_000],
  ['gpt-5-4-mini', 272_000],
  ['gpt-5-4-nano', 272_000],
  ['gpt-5-5', 922_000],
  ['gpt-5-6', 922_000],
  ['o3', 100_000],
  ['o4', 100_000],
  ['gemini-2-', 1_048_576],
  ['gemini-3', 1_000_000],
] as const).toSorted(([a], [b]) => b.length - a.length)

/** The context window of `<provider>/<model>` in tokens (PRO-08), also behind a gateway that names the maker too (`openrouter/openai/gpt-5.5`). */
export function contextWindow(id: string): number {
  const name = id.slice(id.lastIndexOf('/') + 1).toLowerCase().replaceAll('.', '-')
  return WINDOWS.find(([beginning]) => name.startsWith(beginning))?.[1] ?? UNKNOWN_TOKENS
}
