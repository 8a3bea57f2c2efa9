import type { Message } from '../core/contract.ts'
import { letterMessage } from '../core/letter.ts'
import type { Conversation } from './conversation.ts'

/**
 * A conversation as it can be shown: of a turn under way with the outcomes there are so far, and what came for the next one. A message that came
 * too late for an agent's last turn is not part of it.
 */
export function transcriptOf(conversation: Conversation): readonly Message[] {
  const { messages, outcomes, unread, ended } = conversation.standing()
  return [
    ...messages,
    ...(outcomes.length > 0 ? [{ role: 'tool', outcomes } as const] : []),
    ...(ended ? [] : unread.map(letterMessage)),
  ]
}
