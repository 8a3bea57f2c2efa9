import type { AgentType, Scope } from '../core/agent-type.ts'
import type { Diagnostic } from '../core/diagnostic.ts'
import type { NamedType } from './find-type.ts'

/** A definition in its place: `tree` is the folder it came from. */
export type Definition = { readonly type: AgentType; readonly tree: string }

/** A definition that lost to an earlier one of its name (SCO-01, TYP-15). */
export type ShadowedType = { readonly type: AgentType; readonly by: AgentType }

export type RankedTypes = {
  readonly winners: readonly NamedType[]
  readonly shadowed: readonly ShadowedType[]
  readonly warnings: readonly Diagnostic[]
}

/** Decides which definition of each name counts: the first, in the order given (highest scope first, then by path). */
export function rankTypes(definitions: readonly Definition[]): RankedTypes {
  const first = new Map<string, Definition>()
  const shadowed: ShadowedType[] = []
  const warnings: Diagnostic[] = []
  for (const definition of definitions) {
    const winner = first.get(definition.type.name)
    if (!winner) first.set(definition.type.name, definition)
    else {
      shadowed.push({ type: definition.type, by: winner.type })
      if (winner.tree === definition.tree) warnings.push(sameTree(definition.type, winner.type))
    }
  }
  return { winners: shortNames([...first.values()].map(({ type }) => type)), shadowed, warnings }
}

const sameTree = (type: AgentType, winner: AgentType): Diagnostic => ({
  path: type.path ?? type.name,
  line: 1,
  severity: 'warning',
  message: `type "${type.name}" is defined in ${winner.path ?? winner.name} and again in ${type.path ?? type.name}`,
  remedy: 'the first by path counts; rename or remove the other',
})

/** A plugin's types also go by the name without the plugin, where no other type has it (SCO-05). */
function shortNames(types: readonly AgentType[]): readonly NamedType[] {
  const taken = new Set(types.map(({ name }) => name))
  return types.map((type) => {
    const short = type.scope === PLUGIN ? type.name.slice(type.name.indexOf(':') + 1) : undefined
    if (short === undefined || taken.has(short)) return { type, alsoNamed: [] }
    taken.add(short)
    return { type, alsoNamed: [short] }
  })
}

const PLUGIN: Scope = 'plugin'
