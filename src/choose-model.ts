import { CadreError } from './core/errors.ts'

/** What the layers say, as written; null: nothing. */
export type ModelChoice = {
  readonly call: string | null
  readonly type: string | null
  /** Full id of the parent turn's model; null when the parent is a program or there is none. */
  readonly parent: string | null
}

export type ChosenModel = {
  /** `<provider>/<model>`. */
  readonly id: string
  /** One line per name that could not be followed. */
  readonly notes: readonly string[]
}

type Resolve = (written: string, parent: string | null) => { readonly id: string | null; readonly warning?: string }

/**
 * A sub-agent's model: `CADRE_SUBAGENT_MODEL` or its setting, the call, the file, the parent (MOD-03), and below all the root run's setting.
 * Throws CadreError REFUSED for a model a call may not name, SETTINGS when no layer names one.
 */
export function chooseModel(choice: ModelChoice, options: {
  readonly resolve: Resolve
  readonly subagentModel: string | null
  readonly rootModel: string | null
  readonly aliases: readonly string[]
  readonly allowedModels: readonly string[]
}): ChosenModel {
  const { call, type, parent } = choice
  if (call !== null && !mayName(call, options)) {
    const allowed = ['inherit', ...new Set([...CLAUDE_ALIASES, ...options.aliases, ...options.allowedModels])].join(', ')
    throw new CadreError('REFUSED', `Model "${call}" is not allowed in a call; allowed: ${allowed}.`)
  }
  const notes: string[] = []
  for (const written of [options.subagentModel, call, type, parent, options.rootModel]) {
    if (written === null || written === 'inherit' || written === '') continue
    const { id, warning } = options.resolve(written, parent)
    if (warning) notes.push(warning)
    if (id !== null) return { id, notes: [...new Set(notes)] }
  }
  throw new CadreError('SETTINGS', NO_MODEL('<provider>/<model>'))
}

/** MOD-04, 09. */
export const NO_MODEL = (found: string): string => `No model is set. Use --model ${found}, or set CADRE_MODEL or "model" in settings.`

const CLAUDE_ALIASES = ['sonnet', 'opus', 'haiku', 'fable']

const mayName = (call: string, { aliases, allowedModels }: { readonly aliases: readonly string[]; readonly allowedModels: readonly string[] }): boolean =>
  call === 'inherit' || [...CLAUDE_ALIASES, ...aliases, ...allowedModels].includes(call)
