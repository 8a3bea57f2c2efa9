import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'

import { answer, answerTo, approvalId, approvalQuestion, ask, callsOf, deniedText, expire, nextExpiry, NO_APPROVALS, pendingApprovals } from '../../src/permissions/approvals.ts'
import type { PendingApproval } from '../../src/permissions/approvals.ts'

const MINUTE = 60_000
const pending = (id: string, asked = 0): PendingApproval =>
  ({ id, agent: 'releaser/operator', tool: 'bash', input: { command: 'npm publish' }, asks: 'bash', why: 'it asks', asked, expires: asked + 30 * MINUTE })
const asked = [pending('call_1/call_4/call_9'), pending('call_1/call_7', MINUTE)].reduce(ask, NO_APPROVALS)

describe('PRM-08, 09: questions wait under their qualified ids and are answered one by one', () => {
  test('a paused run hands out what waits; an answer takes one out and leaves the other', () => {
    expect(pendingApprovals(asked)).toEqual(['call_1/call_4/call_9', 'call_1/call_7'].map((id) => ({ id, agent: 'releaser/operator', tool: 'bash', input: { command: 'npm publish' } })))
    const { state, settled } = answer(asked, 'call_1/call_7', { approved: true }, 'resume', 2 * MINUTE)
    expect(settled).toEqual({ id: 'call_1/call_7', tool: 'bash', input: { command: 'npm publish' }, approved: true, by: 'resume', time: 2 * MINUTE })
    expect(pendingApprovals(state).map(({ id }) => id)).toEqual(['call_1/call_4/call_9'])
    expect([answerTo(state, pending('call_1/call_7')), answerTo(state, pending('call_1/call_4/call_9'))]).toEqual([settled, null])
  })

  test('an id has one part per layer, whatever a provider puts into its own ids', () => {
    expect(approvalId(['call_1', 'call_4', 'call_9'])).toBe('call_1/call_4/call_9')
    expect(approvalId(['a/b', '100%', '%2F'])).toBe('a%2Fb/100%25/%252F')
    fc.assert(fc.property(fc.array(fc.string({ unit: fc.constantFrom('a', '/', '%', '2', 'F', '5') }), { minLength: 1 }), (calls) => {
      expect(callsOf(approvalId(calls))).toEqual(calls)
    }))
  })

  test('a resumed run that asks again changes nothing, waiting or answered', () => {
    expect(ask(asked, pending('call_1/call_7', 5 * MINUTE))).toBe(asked)
    const { state } = answer(asked, 'call_1/call_7', { approved: false }, 'user', 2)
    expect(ask(state, pending('call_1/call_7', 3))).toBe(state)
  })

  test('a yes to one call is no yes to another that a provider gave the same id', () => {
    const { state } = answer(asked, 'call_1/call_7', { approved: true }, 'user', 2)
    const other = { ...pending('call_1/call_7', 3), input: { command: 'rm -rf x' } }
    expect(answerTo(state, other)).toBeNull()
    expect(pendingApprovals(ask(state, other)).at(-1)).toMatchObject({ id: 'call_1/call_7', input: { command: 'rm -rf x' } })
    expect(answerTo(ask(state, other), other)).toBeNull()
  })

  for (const [what, id, now, code, message] of [
    ['an id nobody asked with', 'call_2', 0, 'NOT_FOUND', 'No approval "call_2" was asked for in this session. Waiting: call_1/call_4/call_9, call_1/call_7.'],
    ['the id of the layer above', 'call_1', 0, 'NOT_FOUND', 'No approval "call_1" was asked for in this session. Waiting: call_1/call_4/call_9, call_1/call_7.'],
    ['one that ran out', 'call_1/call_4/call_9', 30 * MINUTE, 'USAGE', 'The approval "call_1/call_4/call_9" ran out at 1970-01-01T00:30:00.000Z and counts as denied. Continue the agent to have it ask again.'],
  ] as const) {
    test(`an answer to ${what} is an error that says so`, () => {
      expect(() => answer(asked, id, { approved: true }, 'resume', now)).toThrow(expect.objectContaining({ code, message }) as Error)
    })
  }

  test('a second answer never changes the first', () => {
    const { state } = answer(asked, 'call_1/call_7', { approved: false, reason: 'not on a Friday' }, 'user', 1)
    expect(() => answer(state, 'call_1/call_7', { approved: true }, 'resume', 2)).toThrow('The approval "call_1/call_7" was already denied (user). Leave it out of the responses.')
    expect(deniedText('bash', answerTo(state, pending('call_1/call_7')) ?? {})).toBe('Declined: bash was not approved (not on a Friday). Work without it or report what you need.')
  })
})

test('PRM-10: what nobody answered for 30 minutes is denied, and nothing younger', () => {
  expect(nextExpiry(asked)).toBe(30 * MINUTE)
  expect(expire(asked, 30 * MINUTE - 1)).toEqual({ state: asked, expired: [] })
  const { state, expired } = expire(asked, 30 * MINUTE)
  expect(expired).toEqual([{ id: 'call_1/call_4/call_9', tool: 'bash', input: { command: 'npm publish' }, approved: false, reason: 'nobody answered in time', by: 'timeout', time: 30 * MINUTE }])
  expect([nextExpiry(state), pendingApprovals(state).length]).toEqual([31 * MINUTE, 1])
  expect(nextExpiry(expire(state, 99 * MINUTE).state)).toBeNull()
})

test('PRM-07: a question names the asker’s path and what it wants, on one line', () => {
  expect(approvalQuestion(pending('x'))).toBe('releaser/operator wants to run bash: npm publish')
  expect(approvalQuestion({ agent: 'a', asks: 'unconfined bash', input: { command: 'a\n  b\u001B' } })).toBe('a wants to run unconfined bash: a b\u001B')
  expect(approvalQuestion({ agent: 'a', asks: 'edit', input: { path: 'x.ts', old_string: 'y' } })).toBe('a wants to run edit: x.ts')
  expect(approvalQuestion({ agent: 'a', asks: 'mcp__x__y', input: { n: 1 } })).toBe('a wants to run mcp__x__y: {"n":1}')
  expect(approvalQuestion({ agent: 'a', asks: 'bash', input: { command: 'x'.repeat(999) } })).toBe(`a wants to run bash: ${'x'.repeat(200)}…`)
})
