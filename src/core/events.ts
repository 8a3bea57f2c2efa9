import type { FileRead, Reply, ToolCall, ToolOutcome } from './contract.ts'
import type { Diagnostic } from './diagnostic.ts'
import type { Grant, Removal } from './grant.ts'
import type { Json } from './json.ts'
import type { AgentResult } from './result.ts'

/**
 * Everything that happens, past tense, with ids (CMD-04): the journal's rows, the stream of `--output-format stream-json`, and the whole
 * contract of every user interface. Each `type` fixes the shape of `data`.
 */
export type EventBody =
  | { readonly type: 'session.started'; readonly data: { readonly kind: 'run' | 'sweep'; readonly title: string; readonly cwd: string; readonly root: string; readonly version: string } }
  | { readonly type: 'session.ended'; readonly data: { readonly status: string } }
  | { readonly type: 'delegation.queued'; readonly data: DelegationStarted & { readonly ahead: number } }
  | { readonly type: 'delegation.started'; readonly data: DelegationStarted }
  | { readonly type: 'delegation.refused'; readonly data: { readonly reason: string; readonly input: Json } }
  | { readonly type: 'delegation.ended'; readonly data: { readonly result: AgentResult; readonly reads?: readonly FileRead[] } }
  | { readonly type: 'turn.started'; readonly data: { readonly turn: number; readonly injected: readonly string[] } }
  | { readonly type: 'turn.ended'; readonly data: { readonly turn: number; readonly reply: Reply } }
  | { readonly type: 'delta'; readonly data: { readonly kind: 'text' | 'reasoning' | 'reset'; readonly text: string } }
  | { readonly type: 'tool.started'; readonly data: { readonly turn: number; readonly call: ToolCall } }
  | { readonly type: 'tool.ended'; readonly data: { readonly turn: number; readonly outcome: ToolOutcome } }
  | { readonly type: 'message.sent'; readonly data: { readonly text: string; readonly from: string } }
  | { readonly type: 'rate.paused'; readonly data: { readonly provider: string; readonly attempt: number; readonly waitMs: number; readonly reason: string } }
  | { readonly type: 'types.reloaded'; readonly data: { readonly added: readonly string[]; readonly changed: readonly string[]; readonly removed: readonly string[] } }
  | { readonly type: 'diagnostic'; readonly data: Diagnostic }

/** Enough to show, continue and resume an agent: its version, rights and whole prompt. */
export type DelegationStarted = {
  readonly title: string
  readonly agentType: string
  readonly typeHash: string
  readonly typePath: string | null
  readonly model: string
  readonly system: string
  readonly prompt: string
  readonly grant: Grant
  readonly removed: readonly Removal[]
  readonly cwd: string
  readonly background: boolean
  readonly seed: number
  /** The parent's call this answers; null for a root run. */
  readonly callId: string | null
}

/** Whom an event is about. `root` is the root run's agent id, `parent` null for it; depth 0 is the root run. */
export type EventSubject = {
  readonly session: string
  readonly root: string
  readonly agent: string
  readonly parent: string | null
  readonly depth: number
}

/** An event on its way to the journal. `key` makes it findable (a sweep item's key). Time in ms since 1970. */
export type NewEvent = EventSubject & EventBody & { readonly time: number; readonly key?: string }

/** An event as journaled and streamed. */
export type CadreEvent = { readonly v: 1; readonly seq: number } & NewEvent

export type EventType = EventBody['type']
