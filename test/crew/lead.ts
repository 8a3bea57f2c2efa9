import type { CadreEvent } from '../../src/core/events.ts'
import type { JsonObject } from '../../src/core/json.ts'
import type { AgentResult } from '../../src/core/result.ts'
import { holds, ofType } from '../delegation/lab.ts'
import type { Lab } from '../delegation/lab.ts'
import type { Answer, Script, ScriptRequest } from '../server/provider-server.ts'

/** One turn of a scripted parent: an answer, or what it makes of its request; `ids` are those of its sub-agents so far, in the order of its calls. */
export type Turn = Answer | ((request: ScriptRequest, ids: readonly string[]) => Answer | Promise<Answer>)

export const agent = (input: JsonObject) => ({ name: 'agent', input })

export const part = (n: number, more: JsonObject = {}): JsonObject => ({ description: `part ${n}`, prompt: `Look at part ${n}.`, subagent_type: 'explorer', ...more })

export const background = (n: number, more: JsonObject = {}): JsonObject => part(n, { run_in_background: true, ...more })

/** The parent follows these turns and then says `done`; whoever does not hold `agent` is a child. */
export function led(turns: readonly Turn[], child: Script = () => ({ text: 'ok' })): Script {
  return (request) => {
    if (!holds(request, 'agent')) return child(request)
    const turn = turns[request.turn - 1] ?? { text: 'done' }
    return typeof turn === 'function' ? turn(request, idsIn(request)) : turn
  }
}

/** The ids a conversation names, in the order it first names them. */
export const idsIn = ({ body }: ScriptRequest): readonly string[] => [...new Set(JSON.stringify(body['messages']).match(/\bsa-[0-9a-z]{8}\b/g))]

/** Whether a request's conversation holds these words: what an agent was asked is in all of its requests. */
export const says = ({ body }: ScriptRequest, words: string): boolean => JSON.stringify(body['messages']).includes(JSON.stringify(words).slice(1, -1))

/** Ids and times, which differ from run to run, by their names. */
export const masked = (text: string): string => text.replaceAll(/\bsa-[0-9a-z]{8}\b/g, '<id>').replaceAll(/Time: \d+\.\d s/g, 'Time: <n> s')

/** What the root run's calls answered, in the order of its calls, masked. */
export function told({ events }: Pick<Lab, 'events'>): readonly string[] {
  const outcomes = new Map(ofType(events, 'tool.ended').filter(({ depth }) => depth === 0).map(({ data }) => [data.outcome.callId, data.outcome.text]))
  return ofType(events, 'turn.ended').filter(({ depth }) => depth === 0).flatMap(({ data }) => data.reply.calls.map(({ id }) => masked(outcomes.get(id) ?? 'no outcome')))
}

/** Resolves when the condition holds of what has happened so far. */
export async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise((resolve) => setTimeout(resolve, 5))
}

/** The results of all agents below the root run, in order of their ends. */
export const ends = (events: readonly CadreEvent[]): readonly AgentResult[] =>
  ofType(events, 'delegation.ended').filter(({ depth }) => depth > 0).map(({ data }) => data.result)

/** The result of the agent of this title. */
export function endOf(events: readonly CadreEvent[], title: string): AgentResult {
  const found = ends(events).find((result) => result.title === title)
  if (!found) throw new Error(`${title} has not ended`)
  return found
}

/** A promise to be kept from outside. */
export function signal(): { readonly given: Promise<void>; give(): void } {
  const { promise, resolve } = Promise.withResolvers<void>()
  return { given: promise, give: resolve }
}
