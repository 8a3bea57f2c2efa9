import type { Message, ToolCall, ToolOutcome } from '../core/contract.ts'
import type { CadreEvent, EventType, Sender } from '../core/events.ts'

/** The events a conversation is made of. */
export const TRANSCRIPT_TYPES = [
  'delegation.queued', 'delegation.started', 'turn.started', 'turn.ended', 'tool.ended', 'message.sent', 'delegation.ended',
] as const satisfies readonly EventType[]

/**
 * One agent's conversation, as its model saw it, from its events in order: the prompt; at each turn the outcomes (in the order of the
 * calls, however they came in), then the messages that had arrived, then what the turn added; the reply. A message that came too
 * late for an agent's last turn is not part of it. Outcomes of a turn that is under way are the ones there are so far.
 */
export function transcriptOf(events: Iterable<CadreEvent>): readonly Message[] {
  const messages: Message[] = []
  let calls: readonly ToolCall[] = []
  let outcomes = new Map<string, ToolOutcome>()
  let arrived: Message[] = []
  let begun = false
  let ended = false

  function settle(): void {
    const inOrder = calls.flatMap(({ id }) => outcomes.get(id) ?? [])
    if (inOrder.length > 0) messages.push({ role: 'tool', outcomes: inOrder })
    outcomes = new Map()
    messages.push(...arrived)
    arrived = []
  }

  for (const { type, data } of events) {
    switch (type) {
      case 'delegation.queued':
      case 'delegation.started':
        // Queued, started, and started again when it is resumed: always with one prompt.
        if (!begun) messages.push({ role: 'user', text: data.prompt })
        begun = true
        break
      case 'message.sent':
        arrived.push(asMessage(data.text, data.from))
        break
      case 'turn.started':
        settle()
        calls = []
        for (const text of data.injected) messages.push({ role: 'user', text, synthetic: 'reminder' })
        break
      case 'turn.ended': {
        const { text, opaque } = data.reply
        calls = data.reply.calls
        messages.push({ role: 'assistant', text, calls, ...(opaque !== undefined && { opaque }) })
        break
      }
      case 'tool.ended':
        outcomes.set(data.outcome.callId, data.outcome)
        break
      case 'delegation.ended':
        ended = true
        break
      default:
        break
    }
  }
  if (ended) arrived = []
  settle()
  return messages
}

/** What the user says is the user's; all else is marked with what it is. */
const asMessage = (text: string, from: Sender): Message =>
  from === 'user' ? { role: 'user', text } : { role: 'user', text, synthetic: from === 'parent' ? 'message' : 'reminder' }
