import type { Message } from '../core/contract.ts'
import type { CadreEvent, Origin } from '../core/events.ts'
import type { Conversation } from './conversation.ts'
import { CONVERSATION_TYPES, createConversation } from './conversation.ts'
import type { EventReader } from './events.ts'

export type History = {
  /** The conversation of an agent, what it began with included. `full`: with the turns a summary stands for. `hear` is told each of its events. */
  conversation(agent: string, options?: { readonly full?: boolean; hear?(event: CadreEvent): void }): Conversation
}

/** Conversations from the journal, each with the one it came from, and that with its own. */
export function openHistory(reader: Pick<EventReader, 'events'>): History {
  /** Only what was there before the event `before`: so far an origin had got, and so no two can be each other's. */
  const eventsOf = (agent: string, before?: number) =>
    reader.events({ agent, types: CONVERSATION_TYPES, ...(before !== undefined && { beforeSeq: before }) })

  const open = (full: boolean): Conversation => createConversation({ full, begins: (origin, seq) => messagesOf(origin, seq, full) })

  function messagesOf(origin: Origin, before: number, full: boolean): readonly Message[] {
    if (origin.kind === 'messages') return origin.messages
    const conversation = open(full)
    for (const event of eventsOf(origin.agent, before)) {
      if (origin.kind === 'fork' && event.type === 'turn.ended' && event.data.turn === origin.turn) return forked(conversation, event.data.reply.text)
      conversation.take(event)
    }
    if (origin.kind === 'continue') conversation.close()
    return conversation.standing().messages
  }

  return {
    conversation(agent, { full = false, hear } = {}) {
      const conversation = open(full)
      for (const event of eventsOf(agent)) {
        conversation.take(event)
        hear?.(event)
      }
      return conversation
    },
  }
}

/** KIN-02: what the parent's model had said when it called: without the calls, which the fork does not wait for. */
function forked(parent: Conversation, text: string): readonly Message[] {
  const { messages } = parent.standing()
  return text.trim() === '' ? messages : [...messages, { role: 'assistant', text, calls: [] }]
}
