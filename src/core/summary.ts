import type { Message } from './contract.ts'
import type { Summary } from './events.ts'

/** A conversation, how many of its first messages it began with (the agent's own prompt the last of them), and the number of its last reply's turn. */
export type History = { readonly messages: readonly Message[]; readonly keepFirst: number; readonly turn: number }

/**
 * PRO-08: the conversation that goes on from a summary: what it began with, the summary, and everything after turn `turns`. What was read before
 * a turn belongs to that turn. With `origin` the summary also stands for what came before the agent's own prompt: only the first message of it
 * stays. Turns are counted back from the last reply, so an earlier summary in the list changes nothing; it is replaced too.
 */
export function applySummary(history: History, { text, turns, origin }: Pick<Summary, 'text' | 'turns' | 'origin'>): History {
  const { messages, keepFirst, turn } = history
  const beginning = messages.slice(0, keepFirst)
  const kept = origin ? leadOf(beginning) : beginning
  return { messages: [...kept, { role: 'user', text, synthetic: 'summary' }, ...messages.slice(endOfTurn(history, turns))], keepFirst: kept.length, turn }
}

/** What stays of a conversation's beginning when all of it is summarized: the first message, if a person or an agent wrote it, and the agent's own prompt. */
export const leadOf = (beginning: readonly Message[]): readonly Message[] =>
  beginning.filter((message, i) => i === beginning.length - 1 || (i === 0 && message.role === 'user' && message.synthetic === undefined))

/** Where the messages after a turn begin: behind its reply and the outcomes of its calls. A turn that is no longer there ended where the rest begins. */
export function endOfTurn({ messages, keepFirst, turn }: History, turns: number): number {
  const replies = messages.flatMap(({ role }, i) => (role === 'assistant' && i >= keepFirst ? [i] : []))
  const reply = replies[Math.min(replies.length - 1, replies.length - 1 - (turn - turns))]
  if (reply !== undefined) return messages[reply + 1]?.role === 'tool' ? reply + 2 : reply + 1
  const first = messages[keepFirst]
  return first?.role === 'user' && first.synthetic === 'summary' ? keepFirst + 1 : keepFirst
}
