import type { NewEvent } from '../core/events.ts'
import { firstLine } from './first-line.ts'

/**
 * What a parent asks about an agent before each of its turns, from the event that began or ended it: a short JSON list beside the event, so that
 * it can be read from an index alone. `background` is 1 or 0.
 */
export type Facts<Of extends 'start' | 'end'> = Of extends 'start'
  ? readonly [title: string, agentType: string, callId: string | null, background: number, expectedDuration: number | null, maxTurns: number]
  : readonly [status: string, cause: string | null, turns: number, firstLine: string]

/** The list of an event without secrets, as JSON; null where there is none: other events, and those of root runs. */
export function factsOf({ parent, type, data }: NewEvent): string | null {
  if (parent === null) return null
  switch (type) {
    case 'delegation.queued':
    case 'delegation.started': {
      const { title, agentType, callId, background, expectedDuration, grant } = data
      return JSON.stringify([title, agentType, callId, background ? 1 : 0, expectedDuration, grant.limits.maxTurns] satisfies Facts<'start'>)
    }
    case 'delegation.ended': {
      const { status, cause, turns, output } = data.result
      return JSON.stringify([status, cause, turns, firstLine(output)] satisfies Facts<'end'>)
    }
    default:
      return null
  }
}

const listOf = (...paths: readonly string[]): string => `json_array(${paths.map((path) => `data ->> '$.${path}'`).join(', ')})`

/** The same in SQL, for what a version 1 file has of these events, with the whole output for its first line. */
export const FACTS = `CASE type
  WHEN 'delegation.ended' THEN ${listOf('result.status', 'result.cause', 'result.turns', 'result.output')}
  ELSE ${listOf('title', 'agentType', 'callId', 'background', 'expectedDuration', 'grant.limits.maxTurns')} END`
