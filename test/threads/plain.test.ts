import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'

import { emptyHand } from '../../src/threads/hand.ts'
import { idsFrom, outcomesFrom, PLAIN_LIMITS, runAnswerFrom } from '../../src/threads/plain.ts'
import { brief, local, remote, reply } from './scripted.ts'

const outcome = fc.record(
  { callId: fc.string(), tool: fc.string(), ok: fc.boolean(), text: fc.string(), reads: fc.array(fc.record({ path: fc.string(), hash: fc.string() })) },
  { requiredKeys: ['callId', 'tool', 'ok', 'text'], noNullPrototype: true },
)

describe('SHL-07: what a thread may send', () => {
  test('every list of outcomes crosses unchanged', () => {
    fc.assert(fc.property(fc.array(outcome), (outcomes) => {
      expect(outcomesFrom(structuredClone(outcomes))).toEqual(outcomes)
    }))
  })

  test('anything else gives nothing, and reading it never throws', () => {
    const anything = fc.anything({ withMap: true, withSet: true, withDate: true, withBigInt: true, withSparseArray: true, withTypedArray: true, withNullPrototype: true })
    fc.assert(fc.property(anything, (value) => {
      const read = outcomesFrom(value)
      if (read !== null) expect(read).toEqual(value)
      const ids = idsFrom(value)
      if (ids !== null) expect(ids.every((id) => typeof id === 'string')).toBe(true)
      const answer = runAnswerFrom(value)
      if (answer !== null) expect(Object.keys(answer)).toHaveLength(2)
    }), { numRuns: 2_000 })
  })

  test('one field more, one less or of another kind is enough to refuse an outcome', () => {
    fc.assert(fc.property(outcome, fc.constantFrom('callId', 'tool', 'ok', 'text'), fc.anything(), (good, key, other) => {
      fc.pre(typeof other !== typeof good[key])
      expect(outcomesFrom([{ ...good, [key]: other }])).toBeNull()
      expect(outcomesFrom([Object.fromEntries(Object.entries(good).filter(([name]) => name !== key))])).toBeNull()
      expect(outcomesFrom([{ ...good, more: other }])).toBeNull()
    }))
  })

  test('more text than an honest thread sends is refused', () => {
    const text = 'x'.repeat(PLAIN_LIMITS.chars / 2)
    const long = { callId: '1', tool: 'read', ok: true, text }
    expect(outcomesFrom([long])).toHaveLength(1)
    expect(outcomesFrom([long, long])).toBeNull()
  })
})

describe('the calls in hand', () => {
  const done = (callId: string) => ({ callId, tool: 'read', ok: true, text: 'x' })

  test('a thread answers for exactly its own calls of the last reply, once', () => {
    const hand = emptyHand(brief())
    expect(hand.settle([])).toBeNull() // no reply has been dealt
    hand.deal(reply([local('read', {}, '1'), local('read', {}, '2')]))
    expect(hand.settle([])).toBeNull()
    expect(hand.settle([done('1')])).toBeNull()
    expect(hand.settle([done('1'), done('3')])).toBeNull()
    expect(hand.settle([done('2'), done('1'), done('3')])).toBeNull()
    expect(hand.settle([{ ...done('1'), tool: 'bash' }, done('2')])).toBeNull()
    expect(hand.settle([done('2'), done('1')])).toEqual([done('1'), done('2')])
  })

  test('it can have a call run once, and only one that is not its own', () => {
    const hand = emptyHand(brief())
    hand.deal(reply([local('read', {}, '1'), remote('bash', {}, '2')]))
    expect(hand.pick(['1'])).toBeNull()
    expect(hand.pick(['2', '2'])).toBeNull()
    expect(hand.pick(['2'])).toEqual([remote('bash', {}, '2')])
    expect(hand.pick(['2'])).toBeNull()
  })

  test('an outcome of the main side stands, whatever the thread says of it', () => {
    const hand = emptyHand(brief())
    hand.deal(reply([remote('read', {}, '1')]))
    hand.note([done('1')])
    expect(hand.settle([{ ...done('1'), text: 'forged' }])).toEqual([done('1')])
  })
})
