import * as fc from 'fast-check'
import { expect, test } from 'vitest'

import type { Message } from '../../src/core/contract.ts'
import type { CadreEvent, EventBody } from '../../src/core/events.ts'
import { applySummary } from '../../src/core/summary.ts'
import type { History } from '../../src/core/summary.ts'
import { createConversation } from '../../src/journal/conversation.ts'
import { call, outcome, prompt } from './histories.ts'

const NO_USAGE = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 }

const anyTurn = fc.record({
  mail: fc.array(fc.constantFrom('one', 'two'), { maxLength: 2 }),
  calls: fc.nat({ max: 2 }),
  /** How many of the turns before stay whole; null: no summary. */
  summary: fc.option(fc.record({ keep: fc.integer({ min: 1, max: 4 }), origin: fc.boolean() })),
})

/** Plays turns as a session does, and gives its conversation and the events it journaled. */
function play(turns: readonly (typeof anyTurn extends fc.Arbitrary<infer Turn> ? Turn : never)[], beginning: readonly Message[]) {
  const events: EventBody[] = []
  let live: History = { messages: beginning, keepFirst: beginning.length, turn: 0 }
  let gone = 0
  const add = (...messages: readonly Message[]) => void (live = { ...live, messages: [...live.messages, ...messages] })
  for (const [i, { mail, calls, summary }] of turns.entries()) {
    const turn = i + 1
    for (const text of mail) {
      add({ role: 'user', text, synthetic: 'message' })
      events.push({ type: 'message.sent', data: { text, from: 'parent' } })
    }
    const replaced = summary === null ? null : Math.max(gone, live.turn - summary.keep)
    if (summary !== null && replaced !== null) {
      const made = { text: `summary before ${turn}`, turns: replaced, ...(summary.origin && { origin: true as const }), model: 'm', usage: NO_USAGE }
      live = applySummary(live, made)
      gone = replaced
      events.push({ type: 'turn.started', data: { turn, injected: [], summary: made } })
    } else events.push({ type: 'turn.started', data: { turn, injected: [] } })
    const made = Array.from({ length: calls }, (_, n) => call(`${turn}-${n}`))
    add({ role: 'assistant', text: `reply ${turn}`, calls: made })
    live = { ...live, turn }
    events.push({ type: 'turn.ended', data: { turn, reply: { text: `reply ${turn}`, calls: made, usage: NO_USAGE, model: 'm' } } })
    for (const { id } of made) events.push({ type: 'tool.ended', data: { turn, outcome: outcome(id, 'found') } })
    if (made.length > 0) add({ role: 'tool', outcomes: made.map(({ id }) => outcome(id, 'found')) })
  }
  return { live, events }
}

for (const [whose, origin] of [['a fresh agent', []], ['one that goes on', [prompt('old'), { role: 'assistant', text: 'done', calls: [] }]]] as const) {
  test(`PRO-08: ${whose} sees after summaries just what the journal says it sees, and the journal keeps the whole`, () => {
    fc.assert(fc.property(fc.array(anyTurn, { maxLength: 12 }), (turns) => {
      const { live, events } = play(turns, [...origin, prompt('new')])
      const started = { type: 'delegation.started', data: { prompt: 'new', origin: origin.length > 0 ? { kind: 'messages', messages: origin } : null } }
      for (const full of [false, true]) {
        const conversation = createConversation({ full, begins: (from) => (from.kind === 'messages' ? from.messages : []) })
        // What a conversation reads of an event is all there is of these.
        for (const [seq, event] of [started, ...events].entries()) conversation.take({ ...event, seq } as CadreEvent)
        conversation.close()
        const { messages, beginning } = conversation.standing()
        if (full) expect(messages.filter(({ role }) => role === 'assistant')).toHaveLength(turns.length + origin.length / 2)
        else expect({ messages, keepFirst: beginning }).toEqual({ messages: live.messages, keepFirst: live.keepFirst })
      }
    }))
  })
}
