import type { Message } from './contract.ts'

/**
 * A conversation a provider takes: calls without a result are dropped, and results without their call (PRO-06). A result counts only right
 * behind the reply it belongs to. Messages that have nothing left are dropped with them.
 */
export function answeredCalls(messages: readonly Message[]): readonly Message[] {
  return messages.flatMap((message, i): readonly Message[] => {
    switch (message.role) {
      case 'user':
        return [message]
      case 'assistant': {
        const next = messages[i + 1]
        const answered = new Set(next?.role === 'tool' ? next.outcomes.map(({ callId }) => callId) : [])
        const calls = message.calls.filter(({ id }) => answered.has(id))
        if (calls.length === message.calls.length) return [message]
        // What a provider sealed speaks of the calls as they were.
        return calls.length === 0 && message.text.trim() === '' ? [] : [{ role: 'assistant', text: message.text, calls }]
      }
      case 'tool': {
        const before = messages[i - 1]
        const called = new Set(before?.role === 'assistant' ? before.calls.map(({ id }) => id) : [])
        const outcomes = message.outcomes.filter(({ callId }) => called.has(callId))
        return outcomes.length === 0 ? [] : [outcomes.length === message.outcomes.length ? message : { role: 'tool', outcomes }]
      }
    }
  })
}
