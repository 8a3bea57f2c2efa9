import type { Message, Reply, ToolCall, ToolOutcome, Usage } from './contract.ts'
import type { Sender } from './events.ts'
import type { Json } from './json.ts'

/** Where an agent's run stood when it was interrupted, from its events alone (JRN-03, 05). Figures are of this run: what the agent did before its last end is not in them. */
export type Restored = {
  /** All its model was shown and said, what its conversation began with included; the outcomes of the last reply's calls only once they are all there and a turn began after them. */
  readonly messages: readonly Message[]
  /** How many of `messages` its conversation began with, its own prompt the last of them: these stay whatever is summarized (PRO-08). */
  readonly beginning: number
  /** The last turn whose reply is here, counted over all runs of the agent; 0: none. */
  readonly turn: number
  /** Turns of its earlier runs: the root run of a resumed session may have some. */
  readonly turnsBefore: number
  /** Whether turn `turn + 1` began and its reply never came: what it was told is in `messages`, and it is asked for again. */
  readonly asked: boolean
  /** The reply of `turn`, unless a later turn began or the agent ended after it. */
  readonly reply: Reply | null
  /** The outcomes there are of that reply's calls. */
  readonly outcomes: readonly ToolOutcome[]
  /** Messages that came and were not read. */
  readonly unread: readonly { readonly text: string; readonly from: Sender }[]
  /** Notices of results that came and were not read, to be read after `unread`: none, where each is journaled with the turn that reads it. */
  readonly notices: readonly string[]
  /** What Cadre has told it in this run, so that it is not told twice. */
  readonly told: readonly { readonly from: Sender; readonly about: string | null }[]
  /** Each request that was paid for: replies, summaries of its history, and what came to nothing. */
  readonly spent: readonly { readonly model: string; readonly usage: Usage }[]
  readonly toolCalls: number
  /** Ids of all its calls, also of those in earlier runs and in turns a summary stands for: no later call may have one of them. */
  readonly callIds: readonly string[]
  /** The last text, or empty. */
  readonly output: string
  readonly value: Json | null
  readonly notes: readonly string[]
  /** ms it ran: from each of its starts to the last sign of it in that process. */
  readonly elapsedMs: number
}

/** An agent as the one that started it sees it (DEL-11, STR-07). Times in ms since 1970. */
export type ChildRow = {
  readonly id: string
  readonly title: string
  readonly type: string
  /** The call of its parent it answers. */
  readonly callId: string | null
  readonly background: boolean
  readonly expectedDuration: number | null
  /** When it was asked for. */
  readonly spawned: number
  /** Null while it has not begun to run. */
  readonly started: number | null
  readonly turns: number
  readonly maxTurns: number
  /** Null while it has not ended. */
  readonly end: null | {
    readonly time: number
    readonly status: string
    readonly cause: string | null
    /** The first line of its output that says something. */
    readonly firstLine: string
    /** Turns its parent began since. */
    readonly turnsSince: number
  }
  /** Whether its result reached its parent: notified, or handed over by a call (DEL-07). */
  readonly handed: boolean
}

/** One tool call of an agent (STR-07). Times in ms since 1970. */
export type CallRow = {
  readonly call: ToolCall
  readonly started: number
  /** Null, both, while it is open. */
  readonly ended: number | null
  readonly outcome: ToolOutcome | null
}
