import { expect, test } from 'vitest'

import type { CadreEvent, NewEvent } from '../../src/core/events.ts'
import type { TraceEvent } from '../../src/journal/trace.ts'
import { traceOf } from '../../src/journal/trace.ts'
import { call, callEnded, callStarted, ended, event, newJournal, queued, sessionEnded, sessionStarted, started, turnEnded, turnStarted } from './story.ts'

const asJournaled = (events: readonly NewEvent[]): readonly CadreEvent[] => events.map((one, at) => ({ v: 1, seq: at + 1, ...one }))

const child = (time: number) => ({ time, agent: 'sa-child', parent: 'sa-root' })

/** A parent whose child was queued first, and was still at a tool call when the process was killed. */
const STORY: readonly NewEvent[] = [
  event(sessionStarted('Look around'), { time: 1_000 }),
  event(started({ title: 'parent' }), { time: 1_001 }),
  event(turnStarted(1), { time: 1_002 }),
  event(turnEnded(1, '', [call('c1')]), { time: 1_010 }),
  event(queued({ title: 'child' }), child(1_011)),
  event(started({ title: 'child' }), child(1_020)),
  event(turnStarted(1), child(1_021)),
  event(turnEnded(1, '', [call('c1'), call('c2')]), child(1_030)),
  event(callStarted(1, call('c1')), child(1_030)),
  event(callStarted(1, call('c2')), child(1_030)),
  event(callEnded(1, call('c1')), child(1_035)),
]

const spans = (trace: readonly TraceEvent[]) => trace.filter(({ ph }) => ph === 'X').map(({ name, cat, ts, dur, tid }) => [cat, name, ts, dur, tid])

test('a trace has a track per agent with its queue, run, model and tool calls; what never ended goes on to the last event', () => {
  const trace = [...traceOf(asJournaled(STORY))]
  expect(trace.filter(({ name }) => name === 'thread_name').map(({ tid, args }) => [tid, args?.['name']])).toEqual([
    [1, 'parent (explorer, sa-root)'], [2, 'child (explorer, sa-child)'],
  ])
  expect(spans(trace)).toEqual([
    ['model', 'turn 1', 1_002_000, 8_000, 1],
    ['queue', 'queued', 1_011_000, 9_000, 2],
    ['model', 'turn 1', 1_021_000, 9_000, 2],
    ['agent', 'parent', 1_001_000, 34_000, 1],
    ['agent', 'child', 1_020_000, 15_000, 2],
  ])
  const calls = trace.filter(({ cat }) => cat === 'tool').map(({ ph, id, ts }) => [ph, id?.split('/')[1], ts])
  expect(calls).toEqual([['b', 'c1', 1_030_000], ['e', 'c1', 1_035_000], ['b', 'c2', 1_030_000], ['e', 'c2', 1_035_000]])
})

test('its counters say how many agents were at work and how many waited for a model, and end at none', () => {
  const trace = [...traceOf(asJournaled(STORY))]
  const counts = trace.filter(({ ph }) => ph === 'C').map(({ args }) => [args?.['at work'], args?.['waiting for a model']])
  expect(counts).toEqual([[1, 0], [0, 1], [1, 0], [2, 0], [1, 1], [2, 0], [1, 0], [0, 0]])
})

test('a journal gives the trace of any session as one JSON text, secrets left out as everywhere', async () => {
  const journal = newJournal({ redact: ['sk-very-secret'] })
  await journal.append([...STORY, event(ended(), { time: 1_050 }), event(sessionEnded(), { time: 1_051 })])
  // Another session, that began earlier and is still running.
  const other = { session: 'ss-2', agent: 'sa-other' }
  await journal.append([event(sessionStarted('key sk-very-secret'), { ...other, time: 900 }), event(started({ title: 'other', model: 'script' }), { ...other, time: 901 }), event(turnStarted(1), { ...other, time: 905 })])
  const text = [...journal.trace(['ss-1', 'ss-2'])].join('')
  const { traceEvents } = JSON.parse(text) as { traceEvents: TraceEvent[] }
  expect(spans(traceEvents).map(([, name]) => name)).toEqual(['turn 1', 'queued', 'turn 1', 'parent', 'child', 'turn 1', 'other'])
  expect(spans(traceEvents).at(-1)).toEqual(['agent', 'other', 901_000, 4_000, 3])
  expect(spans(traceEvents).at(-2)).toEqual(['program', 'turn 1', 905_000, 0, 3])
  expect(new Set(traceEvents.map(({ pid }) => pid))).toEqual(new Set([1, 2]))
  expect(text).not.toContain('sk-very-secret')
})
