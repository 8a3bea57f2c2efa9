import type { Message, Reply, ToolCall, ToolOutcome } from '../core/contract.ts'
import type { CadreEvent, EventType, Origin, Summary } from '../core/events.ts'
import type { Letter } from '../core/letter.ts'
import { letterMessage } from '../core/letter.ts'
import { leadOf } from '../core/summary.ts'

/** The events a conversation is made of. */
export const CONVERSATION_TYPES = [
  'delegation.queued', 'delegation.started', 'turn.started', 'turn.ended', 'tool.ended', 'message.sent', 'notification', 'delegation.ended',
] as const satisfies readonly EventType[]

/** One agent's conversation up to an event. */
export type Standing = {
  /** Whether it was ever queued or started. */
  readonly begun: boolean
  readonly ended: boolean
  /** How many of the messages it began with, its own prompt the last of them. */
  readonly beginning: number
  /** What its model was shown and said: with the outcomes of a turn's calls once the next turn began. */
  readonly messages: readonly Message[]
  /** The last turn with a reply; 0: none. */
  readonly turn: number
  /** Whether the next turn began, in this run, and has no reply yet. */
  readonly asked: boolean
  /** The reply of `turn`, while it is what goes on: no later turn began and the run did not end. */
  readonly reply: Reply | null
  /** The outcomes there are of the last reply's calls, in the order of the calls, unless a later turn began. */
  readonly outcomes: readonly ToolOutcome[]
  /** What came and was not read. */
  readonly unread: readonly Letter[]
}

export type Conversation = {
  /** Takes the agent's next event. */
  take(event: CadreEvent): void
  /** Answers the calls of the last reply that nobody will answer any more. */
  close(): void
  standing(): Standing
}

type Turn = { readonly number: number; readonly messages: Message[] }

/**
 * Follows one agent's events: the prompt, after what the conversation begins with; then, turn by turn, what had come by then, what the turn added,
 * its reply, and the outcomes of its calls in their order, however they came in. A turn that is started again after an interruption is the same
 * turn. Summarized turns are left out, unless `full`.
 */
export function createConversation({ begins, full }: {
  /** The messages of an origin; `seq` is the event that names it. */
  begins(origin: Origin, seq: number): readonly Message[]
  readonly full: boolean
}): Conversation {
  let beginning: readonly Message[] = []
  let turns: Turn[] = []
  let summary: Summary | null = null
  let calls: readonly ToolCall[] = []
  let outcomes = new Map<string, ToolOutcome>()
  let unread: Letter[] = []
  let begun = false
  let ended = false
  let turn = 0
  let asked = false
  let reply: Reply | null = null

  /** The messages of a turn: the latest one, or a new one. */
  function of(number: number): Message[] {
    const last = turns.at(-1)
    if (last?.number === number) return last.messages
    const messages: Message[] = []
    turns.push({ number, messages })
    return messages
  }

  function close(): void {
    const all = calls.map((call) => outcomes.get(call.id) ?? unanswered(call))
    if (all.length > 0) of(turn).push({ role: 'tool', outcomes: all })
    calls = []
    outcomes = new Map()
    reply = null
  }

  function take({ type, data, seq }: CadreEvent): void {
    switch (type) {
      case 'delegation.queued':
      case 'delegation.started':
        // Queued, started, and started again when it is resumed: always with one prompt.
        if (!begun) beginning = [...(data.origin ? begins(data.origin, seq) : []), { role: 'user', text: data.prompt }]
        if (ended) close()
        begun = true
        ended = false
        break
      case 'message.sent':
        unread.push({ text: data.text, from: data.from })
        break
      case 'notification':
        unread.push({ text: data.text, from: 'result' })
        break
      case 'turn.started':
        close()
        if (data.summary) {
          const { turns: last, origin } = summary = data.summary
          if (!full && origin) beginning = leadOf(beginning)
          if (!full) turns = turns.filter(({ number }) => number > last)
        }
        of(data.turn).push(
          ...unread.map(letterMessage),
          ...data.injected.map((text): Message => ({ role: 'user', text, synthetic: 'reminder' })),
        )
        unread = []
        asked = true
        break
      case 'turn.ended': {
        const { text, opaque } = reply = data.reply
        calls = reply.calls
        turn = data.turn
        asked = false
        of(turn).push({ role: 'assistant', text, calls, ...(opaque !== undefined && { opaque }) })
        break
      }
      case 'tool.ended':
        outcomes.set(data.outcome.callId, data.outcome)
        break
      case 'delegation.ended':
        ended = true
        asked = false
        reply = null
        break
      default:
        break
    }
  }

  return {
    take,
    close,
    standing: () => ({
      begun,
      ended,
      beginning: beginning.length,
      messages: [...beginning, ...(summary && !full ? [summaryMessage(summary)] : []), ...turns.flatMap(({ messages }) => messages)],
      turn,
      asked,
      reply,
      outcomes: calls.flatMap(({ id }) => outcomes.get(id) ?? []),
      unread,
    }),
  }
}

/** PRO-08: what stands for the turns it replaces. */
const summaryMessage = ({ text }: Summary): Message => ({ role: 'user', text, synthetic: 'summary' })

const unanswered = ({ id, name }: ToolCall): ToolOutcome =>
  ({ callId: id, tool: name, ok: false, text: 'Error: the run ended before this call was answered.' })
