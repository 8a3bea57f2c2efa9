import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'

import type { EventBody } from '../../src/core/events.ts'
import type { Restored } from '../../src/core/restored.ts'
import type { Step } from './live-agent.ts'
import { liveAgent } from './live-agent.ts'
import type { Whom } from './story.ts'
import { call, callEnded, callStarted, ended, event, newJournal, noticed, queued, sent, sessionStarted, started, summed, turnEnded, turnStarted } from './story.ts'

const [a, b] = [call('a'), call('b', 'grep')]
const outcome = ({ id, name }: typeof a) => ({ callId: id, tool: name, ok: true, text: `outcome of ${id}` })
const usage = { input: 100, output: 20, cacheRead: 7, cacheWrite: 3 }

async function restored(...bodies: readonly (EventBody | readonly [EventBody, Whom])[]): Promise<Restored | undefined> {
  const journal = newJournal()
  await journal.append(bodies.map((one) => ('type' in one ? event(one) : event(...one))))
  return journal.restore('sa-root')
}

const FRESH: Restored = {
  messages: [{ role: 'user', text: 'Go.' }], beginning: 1, turn: 0, turnsBefore: 0, asked: false, reply: null, outcomes: [], unread: [], notices: [], told: [],
  spent: [], toolCalls: 0, callIds: [], output: '', value: null, notes: [], elapsedMs: 0,
}

describe('JRN-03, JRN-05: where an interrupted run stood', () => {
  test('nowhere yet, when it was only queued, or had just begun; unknown, when nobody ever asked for it', async () => {
    expect(await restored(queued({ prompt: 'Go.' }))).toEqual(FRESH)
    expect(await restored(queued({ prompt: 'Go.' }), started({ prompt: 'Go.' }))).toEqual(FRESH)
    expect(await restored(sessionStarted(), sent('to nobody'))).toBeUndefined()
  })

  test('asked: the reply never came, and what it was told is there once', async () => {
    expect(await restored(started({ prompt: 'Go.' }), sent('Hurry.'), turnStarted(1, ['Last turn.']), sent('More.', 'parent'), noticed('sa-1'))).toEqual({
      ...FRESH,
      messages: [{ role: 'user', text: 'Go.' }, { role: 'user', text: 'Hurry.' }, { role: 'user', text: 'Last turn.', synthetic: 'reminder' }],
      asked: true,
      unread: [{ text: 'More.', from: 'parent' }],
      notices: ['notice of sa-1'],
    })
  })

  test('answered: the reply with the outcomes there are, which are not in the messages yet', async () => {
    const reply = { text: 'Two.', calls: [a, b], usage, model: 'test/model' }
    const before = [started({ prompt: 'Go.' }), turnStarted(1), turnEnded(1, 'Two.', [a, b]), callStarted(1, a), callStarted(1, b), callEnded(1, b)]
    const whole = {
      ...FRESH, messages: [...FRESH.messages, { role: 'assistant', text: 'Two.', calls: [a, b] }], turn: 1, reply, outcomes: [outcome(b)],
      spent: [{ model: 'test/model', usage }], toolCalls: 2, callIds: [a.id, b.id], output: 'Two.',
    }
    expect(await restored(...before)).toEqual(whole)
    expect(await restored(...before, callEnded(1, a))).toEqual({ ...whole, outcomes: [outcome(a), outcome(b)] })
    expect(await restored(...before, callEnded(1, a), turnStarted(2))).toEqual({
      ...whole, messages: [...whole.messages, { role: 'tool', outcomes: [outcome(a), outcome(b)] }], asked: true, reply: null, outcomes: [],
    })
  })

  test('with all it cost, summaries included, and what it came to: text, value and notes', async () => {
    expect(await restored(
      started({ prompt: 'Go.' }), turnStarted(1), turnEnded(1, 'first', [a], { notes: ['n1'] }), callEnded(1, a),
      turnStarted(2, [], summed(1)), turnEnded(2, '', [], { model: 'other/model', value: { x: 1 }, notes: ['n2', 'n3'] }),
    )).toMatchObject({
      spent: [{ model: 'test/model', usage }, { model: 'test/model', usage: summed(1).usage }, { model: 'other/model', usage }],
      toolCalls: 1, callIds: [a.id], output: 'first', value: { x: 1 }, notes: ['n1', 'n2', 'n3'],
    })
  })

  test('DEL-10, KIN-14: with what Cadre told it, so that it is not told twice; what people and agents said is no such thing', async () => {
    expect(await restored(
      started({ prompt: 'Go.' }), sent('hello'), sent('hi', 'parent'), sent('is overdue', 'overdue', 'sa-7'), turnStarted(1), turnEnded(1, 'x'), sent('again', 'schema'),
    )).toMatchObject({ told: [{ from: 'overdue', about: 'sa-7' }, { from: 'schema', about: null }] })
  })

  test('KIN-12: with the time it ran, not the time between its processes, nor that in the queue', async () => {
    const at = (time: number): Whom => ({ time })
    expect(await restored(
      [queued(), at(1_000)], [started(), at(2_000)], [turnStarted(1), at(2_500)], [turnEnded(1, '', [a]), at(3_000)],
      [sent('written by the next process', 'resumed'), at(90_000)], [sessionStarted(), at(90_001)],
      [queued(), at(90_010)], [started(), at(91_000)], [callEnded(1, a), at(91_250)], [noticed('sa-9'), at(99_000)],
    )).toMatchObject({ elapsedMs: 1_250 })
  })

  test('STR-04: a run that has ended goes nowhere by itself: no reply, no turn that was asked for', async () => {
    expect(await restored(started({ prompt: 'Go.' }), turnStarted(1), turnEnded(1, 'One.'), ended())).toMatchObject({ turn: 1, reply: null, asked: false })
    expect(await restored(started({ prompt: 'Go.' }), turnStarted(1), ended({ status: 'killed', cause: 'user' }))).toMatchObject({ turn: 0, reply: null, asked: false })
  })

  test('the root run of a session that goes on after its end begins a new run: its conversation goes on, its figures begin anew', async () => {
    const first = [
      [started({ prompt: 'Go.' }), { time: 1_000 }], turnStarted(1), [turnEnded(1, 'One.', [a, b], { value: 7, notes: ['n'] }), { time: 5_000 }],
      callEnded(1, b), sent('x', 'schema'), ended({ status: 'partial', cause: 'budget' }),
    ] as const
    const messages = [
      ...FRESH.messages, { role: 'assistant', text: 'One.', calls: [a, b] },
      { role: 'tool', outcomes: [{ callId: 'a', tool: 'read', ok: false, text: 'Error: the run ended before this call was answered.' }, outcome(b)] },
    ]
    const next = { ...FRESH, messages, turn: 1, turnsBefore: 1, callIds: [a.id, b.id], unread: [{ text: 'x', from: 'schema' }] }
    expect(await restored(...first)).toEqual(next)
    expect(await restored(...first, [started({ prompt: 'Go.' }), { time: 9_000 }], sent('More.'))).toEqual({ ...next, unread: [...next.unread, { text: 'More.', from: 'user' }] })
    expect(await restored(...first, [started(), { time: 9_000 }], [turnStarted(2), { time: 9_010 }], [turnEnded(2, 'Two.'), { time: 9_020 }])).toMatchObject({
      turn: 2, turnsBefore: 1, output: 'Two.', value: null, spent: [{ model: 'test/model' }], toolCalls: 0, notes: [], told: [], elapsedMs: 20,
    })
  })
})

const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('mail' as const), from: fc.constantFrom('user', 'parent', 'nudge', 'resumed') }) },
  { weight: 5, arbitrary: fc.record({ kind: fc.constant('ask' as const), notices: fc.nat(2), injects: fc.boolean(), summarizes: fc.option(fc.nat(), { freq: 3 }), origin: fc.boolean() }) },
  { weight: 5, arbitrary: fc.record({ kind: fc.constant('reply' as const), calls: fc.nat(3), text: fc.constantFrom('', 'some text') }) },
  { weight: 8, arbitrary: fc.record({ kind: fc.constant('outcome' as const), of: fc.nat(5) }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('crash' as const) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('end' as const) }) },
)

test('JRN-03: cut at any point and gone on with from the journal, any number of times, a run stands and reads as if it had never stopped', async () => {
  const journal = newJournal()
  let runs = 0
  await fc.assert(fc.asyncProperty(fc.array(step, { maxLength: 40 }), async (steps) => {
    const agent = `sa-${runs += 1}`
    const write = (bodies: readonly EventBody[]) => journal.append(bodies.map((body) => event(body, { agent })))
    const live = liveAgent()
    await write(live.begin())
    for (const one of steps) {
      const isOver = one.kind === 'end'
      if (one.kind !== 'crash') await write(live.step(one))
      const now = journal.restore(agent)
      if (!now) throw new Error('it was started')
      expect(now).toMatchObject(live.standing())
      if (one.kind === 'crash' || isOver) await write(live.resume(now))
    }
    const { messages, outcomes, unread } = live.standing()
    const transcript = journal.transcript(agent)
    expect(transcript.slice(0, messages.length)).toEqual(messages)
    expect(transcript.slice(messages.length).filter(({ role }) => role === 'tool')).toEqual(outcomes.length > 0 ? [{ role: 'tool', outcomes }] : [])
    expect(transcript).toHaveLength(messages.length + (outcomes.length > 0 ? 1 : 0) + unread.length)
  }), { numRuns: 150 })
})
