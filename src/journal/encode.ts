import { CadreError, messageOf } from '../core/errors.ts'
import type { NewEvent } from '../core/events.ts'
import type { JsonObject } from '../core/json.ts'
import { isObject } from '../core/json.ts'
import { factsOf } from './facts.ts'
import type { Redact } from './redact.ts'
import type { Columns } from './row.ts'

/** An event ready to be written, secrets taken out: `data` is what a stream may show, `json` the same as the row holds it. */
export type Encoded = {
  readonly columns: Columns
  readonly data: JsonObject
  readonly json: string
  readonly facts: string | null
  /** A JSON list of the agents whose results this event hands to its own (DEL-06, 07); null for most. */
  readonly hands: string | null
}

/**
 * Checks an event and turns it into the parts of a row. Throws INVARIANT for what must never be journaled: a `delta`, data that is not
 * JSON, a subject or a time that is no such thing. Checked here, one event's fault cannot fail the group it would be written with.
 */
export function encode(event: NewEvent, redact: Redact): Encoded {
  const { time, session, root, agent, parent, depth, type } = event
  const refuse = (why: string, cause?: unknown): CadreError =>
    new CadreError('INVARIANT', `The event ${type} of ${agent} cannot be journaled: ${why}`, { cause })
  if (type === 'delta') throw refuse('deltas are shown, never written')
  if (!Number.isSafeInteger(time) || !Number.isSafeInteger(depth)) throw refuse(`time (${time}) and depth (${depth}) must be whole numbers`)
  if (!isName(session) || !isName(root) || !isName(agent) || !isName(type)) throw refuse('session, root, agent and type must be non-empty texts')
  if (parent !== null && !isName(parent)) throw refuse('parent must be an agent id or null')
  const plain: unknown = event.data
  if (!isObject(plain)) throw refuse('its data is not an object')
  let written: string
  try {
    written = JSON.stringify(plain)
  } catch (error) {
    throw refuse(`its data is not JSON (${messageOf(error)})`, error)
  }
  const json = redact(written)
  // Only texts within it differ: it has the shape it had.
  const clean = json === written ? event : ({ ...event, data: JSON.parse(json) as unknown } as NewEvent)
  const key = event.key === undefined ? null : encodeKey(event.key, redact)
  return { columns: { time, session, root, agent, parent, depth, type, key }, data: clean.data, json, facts: factsOf(clean), hands: handsOf(clean) }
}

function handsOf({ type, data }: NewEvent): string | null {
  const whose = type === 'notification' ? [data.of] : type === 'tool.ended' ? (data.outcome.hands ?? []) : []
  return whose.length === 0 ? null : JSON.stringify(whose)
}

/** A key as it is filed: one that holds a secret is found under the same spelling it was written with. */
export function encodeKey(key: string, redact: Redact): string {
  const json = JSON.stringify(key)
  const clean = redact(json)
  return clean === json ? key : String(JSON.parse(clean))
}

const isName = (value: unknown): boolean => typeof value === 'string' && value !== ''
