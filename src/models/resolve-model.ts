import { CadreError } from '../core/errors.ts'

/** What a written model means. `id` null: the agent runs on its parent's model. */
export type ResolvedModel = { readonly id: string | null; readonly warning?: string }

/** Whose models an id without a provider belongs to (MOD-01). */
const PREFIXES: readonly (readonly [RegExp, string])[] = [
  [/^claude-/, 'anthropic'],
  [/^gpt-/, 'openai'],
  [/^o\d/, 'openai'],
  [/^gemini-/, 'google'],
  [/^grok-/, 'xai'],
  [/^mistral-/, 'mistral'],
  [/^deepseek-/, 'deepseek'],
]

/** Names agent files use without saying which model they mean (MOD-02). */
const USUAL_ALIASES = ['sonnet', 'opus', 'haiku', 'fable']

export type Naming = {
  /** Names of known providers, in lower case, with the name as configured. */
  readonly providers: ReadonlyMap<string, string>
  readonly aliases: Readonly<Record<string, string>>
}

/**
 * MOD-01, MOD-02: reads an alias, `inherit`, `<provider>/<model>`, an id with a known prefix, or a product name (`Claude Sonnet 4.5`).
 * `parent` is the model that inheriting means, for the warning. Throws UNKNOWN_PROVIDER.
 */
export function resolveModel(written: string, parent: string | null, naming: Naming): ResolvedModel {
  const name = written.trim()
  if (name === '' || name.toLowerCase() === 'inherit') return { id: null }
  const instead = parent === null ? 'the model of the run' : `its parent's model, ${parent}`
  const target = aliasTarget(name, naming.aliases)
  const inherits = (what: string, remedy: string): ResolvedModel =>
    ({ id: null, warning: `${what}; the agent runs on ${instead}. ${remedy}` })
  if (target === null) return inherits(`Model alias "${name}" leads back to itself`, 'Mend modelAliases in settings.')
  if (target.toLowerCase() === 'inherit') return { id: null }
  if (USUAL_ALIASES.includes(target.toLowerCase())) {
    return inherits(`Model alias "${target}" is not mapped`, `Set modelAliases.${target.toLowerCase()} to choose one.`)
  }
  const id = qualified(plainId(target), naming)
  return id === null ? inherits(`Model "${name}" is not known`, 'Write <provider>/<model>, or map it in modelAliases.') : { id }
}

/** Follows aliases of aliases; null when they go in a circle. */
function aliasTarget(name: string, aliases: Readonly<Record<string, string>>): string | null {
  const table = new Map(Object.entries(aliases).map(([alias, target]) => [alias.toLowerCase(), target.trim()]))
  const seen = new Set<string>()
  let current = name
  for (;;) {
    const next = table.get(current.toLowerCase())
    // An alias named like its own target (`gpt-5: gpt-5`) is the target.
    if (next === undefined || next.toLowerCase() === current.toLowerCase()) return current
    if (seen.has(current.toLowerCase())) return null
    seen.add(current.toLowerCase())
    current = next
  }
}

/** Without what other products put behind an id: `[1m]` (a larger window) and `(copilot)` (a vendor). */
const plainId = (written: string): string => written.replace(/\s*(?:\[[^\]]*\]|\([^)]*\))\s*$/, '').trim()

function qualified(name: string, { providers }: Naming): string | null {
  const slash = name.indexOf('/')
  if (slash > 0 && slash < name.length - 1) return `${provider(name.slice(0, slash), providers)}/${name.slice(slash + 1)}`
  for (const id of [name.toLowerCase(), fromProductName(name)]) {
    if (/\s/.test(id)) continue
    const found = PREFIXES.find(([prefix]) => prefix.test(id))
    if (found) return `${provider(found[1], providers)}/${id}`
  }
  return null
}

function provider(name: string, providers: Naming['providers']): string {
  const known = providers.get(name.toLowerCase())
  if (known !== undefined) return known
  throw new CadreError('UNKNOWN_PROVIDER', `Unknown provider "${name}". Known: ${[...providers.values()].join(', ')}.`)
}

/** `Claude Sonnet 4.5` is `claude-sonnet-4-5`, and version 4 is `4-0`; `GPT-4.1` and `Gemini 2.5 Pro` keep their dots. */
function fromProductName(name: string): string {
  const id = name.toLowerCase().replaceAll(/\s+/g, '-')
  return id.startsWith('claude-') ? id.replaceAll('.', '-').replace(/^(claude-(?:opus|sonnet)-4)$/, '$1-0') : id
}
