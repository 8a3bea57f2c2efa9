import type { AgentTool } from './api.ts'
import type { ChosenModel } from './choose-model.ts'
import type { AgentType } from './core/agent-type.ts'
import { formatDiagnostic } from './core/diagnostic.ts'
import { CadreError } from './core/errors.ts'
import type { Grant } from './core/grant.ts'
import type { JsonObject } from './core/json.ts'
import { narrow, noToolLeft } from './core/narrow.ts'
import { resultText } from './core/result-text.ts'
import type { AgentResult, RunOutcome } from './core/result.ts'
import { titleOf } from './core/title.ts'
import { typesFromCode } from './definitions/in-code.ts'
import { startAgent } from './delegate.ts'
import { readyAgent } from './ready.ts'
import type { Services } from './services.ts'

/** What the tool needs of the orchestrator. */
type HostDoors = {
  grant(): Grant
  /** Null for a program. Rejects with SETTINGS when there is none. */
  chooseModel(type: AgentType): Promise<ChosenModel | null>
  /** Opens a session around one run. */
  open(title: string, signal: AbortSignal | undefined, work: (services: Services) => Promise<RunOutcome>): Promise<AgentResult & { readonly session: string }>
}

/** AGT-13: an agent type as a tool of a host's own agent; it runs by the same path, limits and result as any sub-agent. Throws USAGE for no type. */
export function agentAsTool(definition: JsonObject, { grant, chooseModel, open }: HostDoors): AgentTool {
  const { name, ...fields } = definition
  if (typeof name !== 'string') throw new CadreError('USAGE', 'agentAsTool: the definition needs a name.')
  const { types: [type], diagnostics } = typesFromCode({ [name]: fields }, 'agentAsTool')
  if (!type) throw new CadreError('USAGE', diagnostics.map(formatDiagnostic).join('\n'))
  return {
    name: type.name,
    description: type.description,
    input: { type: 'object', properties: { task: { type: 'string' } }, required: ['task'] },
    async execute({ task }, { signal } = {}) {
      if (typeof task !== 'string' || task.trim() === '') throw new CadreError('USAGE', `${type.name}: task is required`)
      const narrowed = narrow(grant(), type)
      if (narrowed.grant.tools.length === 0) throw new CadreError('USAGE', noToolLeft(type, grant()))
      const model = await chooseModel(type)
      const told = { chars: 0 }
      const result = await open(titleOf(task), signal, async (services) => {
        told.chars = services.limits().resultChars
        const environment = model ? await services.environment.whole() : undefined
        const { crew } = services
        return startAgent(services, readyAgent(services, {
          subject: crew.newSubject(crew.root), type, narrowed, title: titleOf(task), prompt: task, model, callId: null, ...(environment !== undefined && { environment }),
        })).ended
      })
      return { text: resultText(result, told.chars), result }
    },
  }
}
