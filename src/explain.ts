import type { Explanation } from './api.ts'
import type { ChosenModel, ModelChoice } from './choose-model.ts'
import type { AgentType } from './core/agent-type.ts'
import { messageOf } from './core/errors.ts'
import type { Grant } from './core/grant.ts'
import { narrow } from './core/narrow.ts'
import { promptBytes } from './prompt.ts'
import type { ProjectTexts } from './prompts/project-texts.ts'
import type { Toolbox } from './tools/toolbox.ts'

/** What a type would get, were it started by a run with this grant (GRA-12). */
export function explain(type: AgentType, parent: Grant, options: {
  readonly toolbox: Toolbox
  readonly startable: readonly AgentType[]
  segment(types: readonly AgentType[]): string
  readonly project: ProjectTexts
  choose(choice: ModelChoice): ChosenModel
}): Explanation {
  const narrowed = narrow(parent, type)
  const { grant } = narrowed
  if (type.program) return { type, narrowed, model: 'script', modelNotes: [], systemParts: [], toolBytes: 0 }
  const { startable, segment, project } = options
  return {
    type,
    narrowed,
    ...modelOf(type, options),
    systemParts: promptBytes({ type, isRoot: false, grant, startable, segment, project }),
    toolBytes: Buffer.byteLength(JSON.stringify(options.toolbox.schemas(grant.tools.map(({ name }) => name)))),
  }
}

function modelOf(type: AgentType, { choose }: { choose(choice: ModelChoice): ChosenModel }): Pick<Explanation, 'model' | 'modelNotes'> {
  try {
    const { id, notes } = choose({ call: null, type: type.model, parent: null })
    return { model: id, modelNotes: notes }
  } catch (error) {
    return { model: null, modelNotes: [messageOf(error)] }
  }
}
