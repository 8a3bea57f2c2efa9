import { answeredCalls } from '../core/answered-calls.ts'
import type { Message, ToolCall, ToolOutcome } from '../core/contract.ts'
import { CadreError, messageOf } from '../core/errors.ts'
import { isObject } from '../core/json.ts'

/** PRO-06: which of its parent's messages a child begins with. */
export type HistoryChoice = 'none' | 'conversation' | ((messages: readonly Message[]) => readonly Message[])

/**
 * The part of a parent's conversation that comes before a child's prompt. `conversation`: what the user said, summaries of it, and the texts of
 * the answers. A function's choice is taken over as far as it is sound: whatever is no user, assistant or tool message (a system message, say)
 * is dropped, and so are calls without a result and results without their call. Throws USAGE when the function throws or gives no list.
 */
export function chosenHistory(messages: readonly Message[], choice: HistoryChoice): readonly Message[] {
  if (choice === 'none') return []
  if (choice === 'conversation') return conversationOf(messages)
  let chosen: unknown
  try {
    chosen = choice(messages)
  } catch (cause) {
    throw new CadreError('USAGE', `The function of delegation.messages failed: ${messageOf(cause)}. Mend it, or use "none" or "conversation".`, { cause })
  }
  if (!Array.isArray(chosen)) throw new CadreError('USAGE', 'The function of delegation.messages gave no list of messages. Mend it, or use "none" or "conversation".')
  return answeredCalls(chosen.flatMap((message: unknown) => soundMessage(message)))
}

/** Texts only: answers that followed each other, with calls between them, become one. */
function conversationOf(messages: readonly Message[]): readonly Message[] {
  const said: Message[] = []
  for (const message of messages) {
    const last = said.at(-1)
    if (message.role === 'user' && (message.synthetic === undefined || message.synthetic === 'summary')) said.push(message)
    if (message.role !== 'assistant' || message.text.trim() === '') continue
    if (last?.role === 'assistant') said[said.length - 1] = { ...last, text: `${last.text}\n\n${message.text}` }
    else said.push({ role: 'assistant', text: message.text, calls: [] })
  }
  return said
}

/** A message out of code whose types nobody checked, with only what a message is made of; none for anything else. */
function soundMessage(value: unknown): readonly Message[] {
  if (!isObject(value)) return []
  const { role, text, synthetic, calls, outcomes, opaque } = value
  if (role === 'user' && typeof text === 'string') return [{ role, text, ...(typeof synthetic === 'string' && { synthetic }) }]
  if (role === 'assistant' && typeof text === 'string') {
    return [{ role, text, calls: Array.isArray(calls) ? calls.filter(isCall) : [], ...(opaque !== undefined && { opaque }) }]
  }
  return role === 'tool' && Array.isArray(outcomes) ? [{ role, outcomes: outcomes.filter(isOutcome) }] : []
}

const isCall = (value: unknown): value is ToolCall =>
  isObject(value) && typeof value['id'] === 'string' && typeof value['name'] === 'string' && value['input'] !== undefined

const isOutcome = (value: unknown): value is ToolOutcome =>
  isObject(value) && typeof value['callId'] === 'string' && typeof value['tool'] === 'string' && typeof value['text'] === 'string'
