import type { AgentType } from '../core/agent-type.ts'
import { typeKey } from '../core/agent-type.ts'

/** Names Claude Code's built-in agents are asked for by, and ours (TYP-17). Keys as `typeKey` makes them. */
const ALIASES: Readonly<Record<string, string>> = { generalpurpose: 'general', explore: 'explorer', fork: 'general' }

/** The built-in types only Cadre itself starts (TYP-17, VER-06). A user's own type of such a name is like any other. */
export const startedByModels = ({ name, scope }: AgentType): boolean => !(scope === 'built-in' && name === 'verifier')

/** What a type may be asked for by: its name and, for a plugin's type, the name without the plugin where that is free (SCO-05). */
export type NamedType = { readonly type: AgentType; readonly alsoNamed: readonly string[] }

/** The type a name as written means (TYP-16): exactly, then ignoring case and separators, then the aliases. `types` in order of scope. */
export function findType(types: readonly NamedType[], written: string): AgentType | undefined {
  const key = typeKey(written)
  if (key === '') return undefined
  const byKey = (wanted: string) => types.find(({ type, alsoNamed }) => [type.name, ...alsoNamed].some((name) => typeKey(name) === wanted))
  const exact = types.find(({ type }) => type.name === written) ?? types.find(({ alsoNamed }) => alsoNamed.includes(written))
  const alias = Object.hasOwn(ALIASES, key) ? ALIASES[key] : undefined
  return (exact ?? byKey(key) ?? (alias === undefined ? undefined : byKey(alias)))?.type
}

/** Whether a name as written asks for a fork: `general` with the parent's conversation (TYP-17), unless a type has that name. */
export const asksForFork = (types: readonly NamedType[], written: string): boolean =>
  typeKey(written) === 'fork' && !types.some(({ type, alsoNamed }) => [type.name, ...alsoNamed].some((name) => typeKey(name) === 'fork'))
