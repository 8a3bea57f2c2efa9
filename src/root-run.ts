import type { ChosenModel } from './choose-model.ts'
import type { AgentType } from './core/agent-type.ts'
import { CadreError } from './core/errors.ts'
import type { Grant } from './core/grant.ts'
import type { JsonObject } from './core/json.ts'
import type { Narrowed } from './core/narrow.ts'
import { narrow, noToolLeft } from './core/narrow.ts'
import type { RunOutcome } from './core/result.ts'
import { titleOf } from './core/title.ts'
import { planAgent } from './delegate.ts'
import { readyAgent } from './ready.ts'
import { beginAgent } from './run.ts'
import type { Place, Services } from './services.ts'
import { verified } from './verification.ts'

/** What the user asks of the run nobody delegates. */
export type RootRequest = {
  readonly prompt: string
  /** The type that runs as the main agent; null: a plain lead with every tool. */
  readonly type: AgentType | null
  readonly model: ChosenModel | null
  readonly tools?: readonly string[]
  readonly disallowedTools?: readonly string[]
  readonly maxTurns?: number
  readonly outputSchema?: JsonObject
}

/** The user's own lists and limits narrow a root run just as a call's narrow a child (GRA-02). Throws CadreError SETTINGS when no tool is left. */
export function narrowRoot(above: Grant, request: Pick<RootRequest, 'type' | 'tools' | 'disallowedTools' | 'maxTurns'>): Narrowed {
  const { type, tools, disallowedTools, maxTurns } = request
  const flags = { name: 'main', tools: tools ?? null, disallowedTools: disallowedTools ?? [], mode: 'build', readOnly: false, trusted: true, program: null } as const
  const limits = maxTurns === undefined ? {} : { maxTurns }
  const byFlags = narrow(above, flags, limits, { asMain: true })
  if (byFlags.grant.tools.length === 0) throw new CadreError('SETTINGS', noToolLeft(flags, above))
  if (!type) return byFlags
  const byType = narrow(byFlags.grant, type, limits, { asMain: true })
  if (byType.grant.tools.length === 0) throw new CadreError('SETTINGS', noToolLeft(type, byFlags.grant))
  return { ...byType, removed: [...byFlags.removed, ...byType.removed], unknown: [...byFlags.unknown, ...byType.unknown] }
}

/** Runs the root agent of a new session, its loop on this thread, to its end. `narrowed` is what `narrowRoot` left it. */
export async function runRoot(services: Services, narrowed: Narrowed, place: Place, request: RootRequest): Promise<RunOutcome> {
  const { prompt, type, model } = request
  const ready = readyAgent(services, {
    subject: services.crew.root,
    type,
    narrowed,
    title: titleOf(prompt) || (type?.name ?? 'main'),
    prompt: type?.initialPrompt ? `${type.initialPrompt}\n\n${prompt}` : prompt,
    ...(model && { environment: await services.environment.whole() }),
    model,
    ...(request.outputSchema && { input: { outputSchema: request.outputSchema, notes: [] } }),
    callId: null,
  })
  return beginAgent(verified(services, planAgent(services, ready)), place, { queue: false }).ended
}
