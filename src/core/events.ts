import type { Program } from './agent-type.ts'
import type { ApprovalAnswer, ApprovalRequest } from './approval.ts'
import type { Effort, FileRead, Message, Reply, ToolCall, ToolOutcome, Usage } from './contract.ts'
import type { Diagnostic } from './diagnostic.ts'
import type { Grant, Removal } from './grant.ts'
import type { Json, JsonObject } from './json.ts'
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
  | { readonly type: 'turn.started'; readonly data: { readonly turn: number; readonly injected: readonly string[]; readonly summary?: Summary } }
  | { readonly type: 'turn.ended'; readonly data: { readonly turn: number; readonly reply: Reply } }
  | { readonly type: 'delta'; readonly data: { readonly kind: 'text' | 'reasoning' | 'reset'; readonly text: string } }
  | { readonly type: 'tool.started'; readonly data: { readonly turn: number; readonly call: ToolCall } }
  | { readonly type: 'tool.ended'; readonly data: { readonly turn: number; readonly outcome: ToolOutcome } }
  | { readonly type: 'approval.asked'; readonly data: ApprovalRequest }
  | { readonly type: 'approval.answered'; readonly data: { readonly id: string } & ApprovalAnswer }
  | { readonly type: 'message.sent'; readonly data: { readonly text: string; readonly from: Sender; readonly about?: string } }
  | { readonly type: 'notification'; readonly data: Notification }
  | { readonly type: 'worktree.opened'; readonly data: { readonly path: string; readonly branch: string; readonly base: string } }
  | { readonly type: 'worktree.kept'; readonly data: { readonly path: string; readonly branch: string; readonly base: string; readonly behind: number } }
  | { readonly type: 'worktree.removed'; readonly data: { readonly path: string; readonly branch: string } }
  | { readonly type: 'merge.landed'; readonly data: { readonly branch: string; readonly commit: string } }
  | { readonly type: 'merge.conflict'; readonly data: { readonly branch: string; readonly base: string; readonly files: readonly string[] } }
  | { readonly type: 'merge.red'; readonly data: { readonly branch: string; readonly log: string } }
  | { readonly type: 'rate.paused'; readonly data: { readonly provider: string; readonly attempt: number; readonly waitMs: number; readonly reason: string } }
  /** Tokens that were paid for and that no reply or summary carries: a call that failed for good, a summary nobody could use (BUD-06). */
  | { readonly type: 'usage.lost'; readonly data: { readonly model: string; readonly usage: Usage } }
  | { readonly type: 'types.reloaded'; readonly data: { readonly added: readonly string[]; readonly changed: readonly string[]; readonly removed: readonly string[] } }
  | { readonly type: 'diagnostic'; readonly data: Diagnostic }

/** Who put a message into an agent's conversation: a person, the agent that started it, or Cadre itself, for one of its reasons. */
export type Sender = 'user' | 'parent' | 'schema' | 'nudge' | 'overdue' | 'repeating' | 'verifier' | 'resumed'

/** A result on its way to the agent that waits for it (DEL-01), journaled for that agent: `of` is whose result it is. */
export type Notification = { readonly of: string; readonly kind: 'agent' | 'merge'; readonly title: string; readonly status: string; readonly text: string }

/**
 * From this turn on the turns up to and including `turns` are this text (PRO-08); with `origin` also what the conversation began with, but for
 * its first message and the agent's own prompt (src/core/summary.ts). `usage` of the request that wrote it.
 */
export type Summary = { readonly text: string; readonly turns: number; readonly origin?: true; readonly model: string; readonly usage: Usage }

/**
 * The conversation an agent begins with, before its own prompt: its parent's up to the call of that turn (KIN-02), the whole of the agent it
 * continues (STR-08), or messages the host application chose (PRO-06).
 */
export type Origin =
  | { readonly kind: 'fork'; readonly agent: string; readonly turn: number }
  | { readonly kind: 'continue'; readonly agent: string }
  | { readonly kind: 'messages'; readonly messages: readonly Message[] }

/** What of its type version an agent needs to go on, whatever has become of the file (SCO-10). */
export type FrozenType = {
  readonly effort?: Effort
  readonly cacheTtl?: '5m' | '1h'
  readonly outputSchema?: JsonObject
  /** Absent in a sweep, which is resumed item by item. */
  readonly program?: Program
  /** Tools its model is shown, where they are not just those of its grant: a fork is shown its parent's. */
  readonly shown?: readonly string[]
  /** Tokens; only lowers the window (TYP-10). */
  readonly autoCompactWindow?: number
  /** Whether all of this type run in the background (KIN-01). */
  readonly background?: true
  /** The worktree that is its own (WKT-01): its root. */
  readonly worktree?: { readonly path: string; readonly branch: string; readonly base: string }
  /** Where it keeps its memory (PRO-05); absent: nowhere. Both absolute. */
  readonly memory?: { readonly base: string; readonly path: string }
}

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
  readonly frozen: FrozenType
  readonly origin: Origin | null
  /** seconds */
  readonly expectedDuration: number | null
  readonly background: boolean
  readonly seed: number
  /** The parent's call this answers; null for a root run. */
  readonly callId: string | null
  /** What a verifier started by Cadre judges (VER-06): the changed files' hash, and the turn its parent had come to, over all its runs. */
  readonly verifies?: { readonly tree: string; readonly turn: number }
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
