import type { JsonObject } from '../../src/core/json.ts'
import type { FullAnswer, ScriptRequest, Wire } from './answer.ts'

/** One provider wire: how a request is read, and how an answer is written, whole or as server-sent events. */
export type WireFormat = {
  readonly name: Wire
  read(body: JsonObject): Omit<ScriptRequest, 'wire' | 'body' | 'headers' | 'task'>
  json(answer: FullAnswer): JsonObject
  /** The events of a streamed reply, each a whole SSE block, without `end`. */
  events(answer: FullAnswer, body: JsonObject): readonly string[]
  /** What follows the last event. */
  readonly end: string
  error(status: number, message: string): JsonObject
  /** An error in the middle of a stream. */
  streamError(message: string): string
}
