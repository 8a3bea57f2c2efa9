import * as fc from 'fast-check'

import type { Message, ToolCall, ToolOutcome } from '../../src/core/contract.ts'
import type { History } from '../../src/core/summary.ts'

export const call = (id: string, input = 'x'): ToolCall => ({ id, name: 'read', input: { path: input }, local: true })
export const outcome = (callId: string, text: string): ToolOutcome => ({ callId, tool: 'read', ok: true, text })

/** What one turn adds: what was read before it, its reply, and the outcomes of its calls. */
export function turnMessages(id: string, { mail = [], text = `reply ${id}`, outcomes = ['found'] }: {
  readonly mail?: readonly string[]
  readonly text?: string
  readonly outcomes?: readonly string[]
} = {}): readonly Message[] {
  const calls = outcomes.map((_, i) => call(`${id}-${i}`))
  return [
    ...mail.map((letter): Message => ({ role: 'user', text: letter, synthetic: 'message' })),
    { role: 'assistant', text, calls },
    ...(calls.length > 0 ? [{ role: 'tool' as const, outcomes: outcomes.map((found, i) => outcome(`${id}-${i}`, found)) }] : []),
  ]
}

export const prompt = (text: string): Message => ({ role: 'user', text })

const turn = (id: string) => fc.record({
  mail: fc.array(fc.string({ maxLength: 40 }), { maxLength: 2 }),
  text: fc.oneof(fc.constant('so it is'), fc.string({ maxLength: 300 })),
  outcomes: fc.array(fc.oneof(fc.string({ maxLength: 100 }), fc.integer({ min: 0, max: 20_000 }).map((size) => 'y'.repeat(size))), { maxLength: 3 }),
}).map((parts) => turnMessages(id, parts))

const turns = (name: string, maxLength: number): fc.Arbitrary<readonly (readonly Message[])[]> =>
  fc.integer({ min: 0, max: maxLength }).chain((count) => fc.tuple(...Array.from({ length: count }, (_, i) => turn(`${name}${i}`))))

/** Conversations of agents, fresh ones and ones that go on with another's. */
export const anyHistory: fc.Arbitrary<History> = fc.record({
  first: fc.string({ maxLength: 200 }),
  origin: fc.oneof(fc.constant([]), turns('o', 14)),
  own: turns('t', 30),
}).map(({ first, origin, own }) => {
  const beginning = origin.length > 0 ? [prompt(first), ...origin.flat(), prompt('go on')] : [prompt(first)]
  return { messages: [...beginning, ...own.flat()], keepFirst: beginning.length, turn: own.length }
})
