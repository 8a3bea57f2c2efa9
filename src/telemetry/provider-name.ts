/** What the conventions call a provider where that is not what its users call it. */
const WELL_KNOWN: Readonly<Record<string, string>> = { google: 'gcp.gemini', xai: 'x_ai', grok: 'x_ai', mistral: 'mistral_ai' }

/** The provider of a model id like `anthropic/claude-…`, by its name in the GenAI conventions; null for an id that names none. */
export function providerName(model: string): string | null {
  const slash = model.indexOf('/')
  if (slash < 1) return null
  const name = model.slice(0, slash)
  return WELL_KNOWN[name] ?? name
}
