import { describe, expect, test } from 'vitest'

import { call, callEnded, callStarted, ended, event, newJournal, queued, sessionStarted, started, turnEnded } from './story.ts'

const child = { agent: 'sa-1', parent: 'sa-root', depth: 1 }

describe('JRN-05, SCO-10: what an agent was started with', () => {
  test('and whom its events are about, once it was queued', async () => {
    const journal = newJournal()
    await journal.append([event(sessionStarted()), event(queued({ title: 'Queued', typeHash: 'v1', cwd: '/elsewhere' }), child)])
    expect(journal.started('sa-1')).toMatchObject({ title: 'Queued', typeHash: 'v1', cwd: '/elsewhere', frozen: {}, origin: null })
    expect(journal.subject('sa-1')).toEqual({ session: 'ss-1', root: 'sa-root', agent: 'sa-1', parent: 'sa-root', depth: 1 })
    await journal.append([event(started({ title: 'Started' }), child)])
    expect(journal.started('sa-1')?.title).toBe('Started')
  })

  test('is not known of an agent that never was', async () => {
    const journal = newJournal()
    await journal.append([event(sessionStarted()), event(ended(), child)])
    for (const id of ['sa-root', 'sa-1', 'sa-9']) {
      expect([journal.started(id), journal.subject(id), journal.result(id), journal.restore(id)]).toEqual([undefined, undefined, undefined, undefined])
    }
  })
})

describe('AGT-08, DEL-07: what an agent came to', () => {
  test('can be read again at any time, whole; the first end counts (KIN-09)', async () => {
    const journal = newJournal()
    const output = 'x'.repeat(100_000)
    await journal.append([event(started(), child), event(ended({ output, agentId: 'sa-1' }), child), event(ended({ output: 'late' }), child)])
    expect(journal.result('sa-1')).toMatchObject({ agentId: 'sa-1', output })
  })

  test('is nothing while it runs, also while it runs again', async () => {
    const journal = newJournal()
    await journal.append([event(started())])
    expect(journal.result('sa-root')).toBeUndefined()
    await journal.append([event(ended({ output: 'first' }))])
    expect(journal.result('sa-root')?.output).toBe('first')
    await journal.append([event(sessionStarted()), event(started())])
    expect(journal.result('sa-root')).toBeUndefined()
    await journal.append([event(ended({ output: 'second' }))])
    expect(journal.result('sa-root')?.output).toBe('second')
  })
})

describe('STR-07: the last calls of an agent', () => {
  const named = (n: number) => call(`c${n}`)

  test('oldest first, with their outcomes and times; an open one has none', async () => {
    const journal = newJournal()
    await journal.append([
      event(started(), child), event(turnEnded(1, '', [named(1), named(2)]), child),
      event(callStarted(1, named(1)), { ...child, time: 10 }), event(callStarted(1, named(2)), { ...child, time: 11 }),
      event(callStarted(1, named(9)), { time: 12 }),
      event(callEnded(1, named(2)), { ...child, time: 20 }), event(callEnded(1, named(1)), { ...child, time: 30 }),
      event(callStarted(2, named(3)), { ...child, time: 40 }),
    ])
    const outcome = (n: number) => ({ callId: `c${n}`, tool: 'read', ok: true, text: `outcome of c${n}` })
    expect(journal.recentCalls('sa-1', 20)).toEqual([
      { call: named(1), started: 10, ended: 30, outcome: outcome(1) },
      { call: named(2), started: 11, ended: 20, outcome: outcome(2) },
      { call: named(3), started: 40, ended: null, outcome: null },
    ])
    expect(journal.recentCalls('sa-1', 2).map((row) => row.call.id)).toEqual(['c2', 'c3'])
    expect([journal.recentCalls('sa-1', 0), journal.recentCalls('sa-9', 20)]).toEqual([[], []])
  })

  test('JRN-04: one that was run again after a crash is one call, begun the last time, with the outcome it came to', async () => {
    const journal = newJournal()
    const at = (time: number) => ({ ...child, time })
    await journal.append([
      event(started(), child), event(callStarted(1, named(1)), at(1)), event(callStarted(1, named(2)), at(2)),
      event(callEnded(1, named(1), 'before'), at(3)), event(callEnded(1, named(2), 'before'), at(4)),
      event(started(), child), event(callStarted(1, named(1)), at(5)), event(callEnded(1, named(2), 'after'), at(6)), event(callEnded(1, named(1), 'again'), at(7)),
    ])
    expect(journal.recentCalls('sa-1', 20).map(({ call: { id }, started, ended, outcome }) => [id, started, ended, outcome?.text])).toEqual([
      ['c2', 2, 6, 'after'], ['c1', 5, 7, 'again'],
    ])
  })

  test('of very many are found from the end, whatever lies between', async () => {
    const journal = newJournal()
    await journal.append([event(started(), child), event(started())])
    for (let n = 1; n <= 300; n += 1) {
      await journal.append([event(callStarted(n, named(n)), child), ...Array.from({ length: 5 }, (_, k) => event(callStarted(n, call(`x${n}-${k}`)))), event(callEnded(n, named(n)), child)])
    }
    expect(journal.recentCalls('sa-1', 200).map((row) => row.call.id)).toEqual(Array.from({ length: 200 }, (_, at) => `c${at + 101}`))
  })
})
