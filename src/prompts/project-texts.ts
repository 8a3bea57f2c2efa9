import type { AgentType } from '../core/agent-type.ts'
import type { Diagnostic } from '../core/diagnostic.ts'
import { openInstructions } from './instructions.ts'
import type { PromptPlace } from './instructions.ts'
import { openSkills } from './skills.ts'
import { createTextFiles } from './text-files.ts'

/** What a project and its user add to the prompts of agents. Equal types get equal bytes while no file changes (MOD-07). */
export type ProjectTexts = {
  /** PRO-03; null: an agent without a type. Empty when there are none. */
  instructions(type: Pick<AgentType, 'omitClaudeMd'> | null): string
  /** PRO-04; empty when the type names none. */
  skills(type: Pick<AgentType, 'name' | 'path' | 'skills'>): string
}

/** Opens the texts around a project. Files are read when first needed, once per version; `instructionsOn` is setting `instructions`, as it is now. */
export function openProjectTexts(place: PromptPlace & {
  instructionsOn(): boolean
  onDiagnostic(diagnostic: Diagnostic): void
  readonly managedFile?: string
  /** ms; replaces the clock in tests. */
  readonly now?: () => number
}): ProjectTexts {
  const files = createTextFiles(place)
  const instructions = openInstructions({ ...place, files })
  return {
    instructions: (type) => instructions(type?.omitClaudeMd === true || !place.instructionsOn()),
    skills: openSkills({ ...place, files }),
  }
}
