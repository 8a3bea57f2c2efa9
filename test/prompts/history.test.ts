import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'

import { answeredCalls } from '../../src/core/answered-calls.ts'
import type { Message, ToolCall, ToolOutcome } from '../../src/core/contract.ts'
import { chosenHistory } from '../../src/prompts/history.ts'

const call = (id: string): ToolCall => ({ id, name: 'read', input: {}, local: true })
const outcome = (callId: string): ToolOutcome => ({ callId, tool: 'read', ok: true, text: `text of ${callId}` })

const PARENT: readonly Message[] = [
  { role: 'user', text: 'Do it.' },
  { role: 'assistant', text: 'I look.', calls: [call('a')], opaque: { by: 'm', parts: [] } },
  { role: 'tool', outcomes: [outcome('a')] },
  { role: 'user', text: 'This is your last turn', synthetic: 'reminder' },
  { role: 'assistant', text: 'It is so.', calls: [] },
  { role: 'user', text: 'And now?' },
  { role: 'assistant', text: '', calls: [call('b')] },
]

describe('PRO-06: delegation.messages', () => {
  test('none gives nothing; conversation gives what the user said and the texts of the answers', () => {
    expect(chosenHistory(PARENT, 'none')).toEqual([])
    expect(chosenHistory(PARENT, 'conversation')).toEqual([
      { role: 'user', text: 'Do it.' },
      { role: 'assistant', text: 'I look.\n\nIt is so.', calls: [] },
      { role: 'user', text: 'And now?' },
    ])
  })

  test('conversation keeps the summary that stands for what was said before', () => {
    const summary: Message = { role: 'user', text: 'So far: …', synthetic: 'summary' }
    expect(chosenHistory([summary, { role: 'assistant', text: 'Yes.', calls: [] }], 'conversation')).toEqual([summary, { role: 'assistant', text: 'Yes.', calls: [] }])
  })

  test('a function selects; calls without a result and results without their call are dropped, with what a provider sealed around them', () => {
    expect(chosenHistory(PARENT, (messages) => messages)).toEqual(PARENT.slice(0, 6))
    expect(chosenHistory(PARENT, (messages) => messages.filter(({ role }) => role !== 'tool'))).toEqual([
      PARENT[0], { role: 'assistant', text: 'I look.', calls: [] }, ...PARENT.slice(3, 6),
    ])
    expect(chosenHistory(PARENT, (messages) => messages.filter(({ role }) => role !== 'assistant'))).toEqual([PARENT[0], PARENT[3], PARENT[5]])
  })

  test('what a host\'s function gives that is no message is dropped: system messages, holes, calls and outcomes that are none', () => {
    const odd = [
      { role: 'system', text: 'Obey.' }, null, 'text', 7, { role: 'user' }, { role: 'user', text: 'Yes.', extra: 1 },
      { role: 'assistant', text: 'I.', calls: [null, { id: 1 }, call('x')] }, { role: 'tool', outcomes: [undefined, outcome('x'), outcome('y')] }, { role: 'assistant', calls: [] },
    ] as unknown as Message[]
    expect(chosenHistory([], () => odd)).toEqual([
      { role: 'user', text: 'Yes.' },
      { role: 'assistant', text: 'I.', calls: [call('x')] },
      { role: 'tool', outcomes: [outcome('x')] },
    ])
  })

  test('a function that throws, or gives no list, is named', () => {
    expect(() => chosenHistory(PARENT, () => { throw new Error('no luck') })).toThrow('The function of delegation.messages failed: no luck.')
    expect(() => chosenHistory(PARENT, () => undefined as unknown as Message[])).toThrow('gave no list of messages')
  })

  test('whatever is chosen, each call has its result right behind it, and each result its call', () => {
    const ids = fc.constantFrom('a', 'b', 'c', 'd')
    const message: fc.Arbitrary<Message> = fc.oneof(
      fc.record({ role: fc.constant('user' as const), text: fc.string() }),
      fc.record({ role: fc.constant('assistant' as const), text: fc.constantFrom('', 'x'), calls: fc.uniqueArray(ids).map((list) => list.map(call)) }),
      fc.record({ role: fc.constant('tool' as const), outcomes: fc.uniqueArray(ids).map((list) => list.map(outcome)) }),
    )
    fc.assert(fc.property(fc.array(message), (messages) => {
      const sound = answeredCalls(messages)
      for (const [i, each] of sound.entries()) {
        const next = sound[i + 1]
        if (each.role === 'assistant' && each.calls.length > 0) {
          expect(next?.role === 'tool' && next.outcomes.map(({ callId }) => callId).toSorted()).toEqual(each.calls.map(({ id }) => id).toSorted())
        }
        if (each.role === 'tool') expect(sound[i - 1]?.role).toBe('assistant')
      }
      expect(answeredCalls(sound)).toEqual(sound)
      expect(sound.filter(({ role }) => role === 'user')).toEqual(messages.filter(({ role }) => role === 'user'))
    }))
  })
})
