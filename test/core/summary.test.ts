import { describe, expect, test } from 'vitest'

import type { Message } from '../../src/core/contract.ts'
import { applySummary } from '../../src/core/summary.ts'

const user = (text: string, synthetic?: string): Message => ({ role: 'user', text, ...(synthetic && { synthetic }) })
const says = (text: string): Message => ({ role: 'assistant', text, calls: [] })

describe('PRO-08: a summary in place of turns', () => {
  const history = { messages: [user('task'), says('1'), user('mail', 'message'), says('2'), says('3')], keepFirst: 1, turn: 3 }

  test('what was read before a turn belongs to that turn', () => {
    expect(applySummary(history, { text: 'S', turns: 1 }).messages).toEqual([user('task'), user('S', 'summary'), user('mail', 'message'), says('2'), says('3')])
    expect(applySummary(history, { text: 'S', turns: 2 }).messages).toEqual([user('task'), user('S', 'summary'), says('3')])
  })

  test('a later summary takes the place of an earlier one, turns counted as before', () => {
    const once = applySummary(history, { text: 'S', turns: 1 })
    expect(applySummary(once, { text: 'T', turns: 2 }).messages).toEqual([user('task'), user('T', 'summary'), says('3')])
    expect(applySummary(once, { text: 'S', turns: 1 })).toEqual(once)
  })

  test('with the origin, only its first message and the agent\'s own prompt stay', () => {
    const continued = { messages: [user('old'), says('a'), user('remember', 'reminder'), user('new'), says('1')], keepFirst: 4, turn: 1 }
    expect(applySummary(continued, { text: 'S', turns: 0, origin: true })).toEqual({
      messages: [user('old'), user('new'), user('S', 'summary'), says('1')], keepFirst: 2, turn: 1,
    })
    expect(applySummary(continued, { text: 'S', turns: 1 }).messages).toEqual([...continued.messages.slice(0, 4), user('S', 'summary')])
  })
})
