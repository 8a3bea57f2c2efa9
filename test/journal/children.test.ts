import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'

import type { ChildRow } from '../../src/core/restored.ts'
import type { NewEvent } from '../../src/core/events.ts'
import { call, callEnded, callStarted, ended, event, newJournal, noticed, queued, sessionStarted, started, turnEnded, turnStarted } from './story.ts'

const child = (agent: string, time = 1_000, parent = 'sa-root') => ({ agent, parent, time })

async function childrenOf(events: readonly NewEvent[], parent = 'sa-root') {
  const journal = newJournal()
  await journal.append([event(sessionStarted()), event(started()), ...events])
  return journal.children(parent)
}

const ROW: ChildRow = {
  id: 'sa-1', title: 'Look around', type: 'explorer', callId: null, background: false, expectedDuration: null, spawned: 1_000, started: 1_000,
  turns: 0, maxTurns: 50, end: null, handed: false,
}

describe('DEL-11, STR-07: the children of an agent', () => {
  test('are listed in the order they were asked for, with what each was asked, and when it began to run', async () => {
    expect(await childrenOf([
      event(queued({ title: 'First', callId: 'c1', background: true, expectedDuration: 90 }), child('sa-1', 2_000)),
      event(queued({ title: 'Second' }), child('sa-2', 3_000)),
      event(started({ title: 'Third', agentType: 'reviewer' }), child('sa-3', 4_000)),
      event(started({ title: 'First', callId: 'c1', background: true, expectedDuration: 90 }), child('sa-1', 5_000)),
      event(started({ title: 'Not a child of it' }), { ...child('sa-4', 6_000, 'sa-1'), depth: 2 }),
      event(turnStarted(1), child('sa-3')), event(turnEnded(1, 'x'), child('sa-3')), event(turnStarted(2), child('sa-3')),
    ])).toEqual([
      { ...ROW, title: 'First', callId: 'c1', background: true, expectedDuration: 90, spawned: 2_000, started: 5_000 },
      { ...ROW, id: 'sa-2', title: 'Second', spawned: 3_000, started: null },
      { ...ROW, id: 'sa-3', title: 'Third', type: 'reviewer', spawned: 4_000, started: 4_000, turns: 1 },
    ])
  })

  test('JRN-05: one that was started again after a crash keeps its place and its times', async () => {
    expect(await childrenOf([
      event(started(), child('sa-1', 2_000)), event(started({ title: 'Second' }), child('sa-2', 3_000)),
      event(sessionStarted()), event(started()), event(queued(), child('sa-1', 80_000)), event(started(), child('sa-1', 90_000)),
    ])).toMatchObject([{ id: 'sa-1', spawned: 2_000, started: 2_000 }, { id: 'sa-2' }])
  })

  test('say how they ended: status, cause, turns, and the first line of the output that says something', async () => {
    const output = '\n  ***\r\n\n  Found **three** things:  \n- one'
    const [row] = await childrenOf([event(started(), child('sa-1')), event(ended({ status: 'partial', cause: 'timeout', turns: 7, output }), child('sa-1', 9_000))])
    expect(row).toEqual({
      ...ROW, turns: 7, end: { time: 9_000, status: 'partial', cause: 'timeout', firstLine: 'Found **three** things:', turnsSince: 0 },
    })
  })

  const outputs: readonly (readonly [output: string, line: string])[] = [
    ['', ''],
    [' \n\t\n', ''],
    ['---\n...\n', '---'],
    ['```json\n{}', '```json'],
    ['日本語\nx', '日本語'],
    [`${'x'.repeat(399)}😀`, 'x'.repeat(399)],
    ['-'.repeat(5_000), '-'.repeat(400)],
    ['"quoted" \\ and \u0000 null', '"quoted" \\ and \u0000 null'],
  ]
  for (const [output, line] of outputs) {
    test(`the first line of ${JSON.stringify(output.slice(0, 30))}`, async () => {
      const [row] = await childrenOf([event(started(), child('sa-1')), event(ended({ output }), child('sa-1'))])
      expect(row?.end?.firstLine).toBe(line)
    })
  }

  test('JRN-08: and tell no secret', async () => {
    const journal = newJournal({ redact: ['sk-very-secret'] })
    await journal.append([
      event(started({ title: 'Use sk-very-secret' }), child('sa-1')), event(ended({ output: 'It is sk-very-secret.' }), child('sa-1')),
    ])
    expect(journal.children('sa-root')).toMatchObject([{ title: 'Use [redacted]', end: { firstLine: 'It is [redacted].' } }])
  })

  test('count the turns their parent began since they ended; one asked for again after a crash is no new one', async () => {
    const since = async (...events: NewEvent[]) =>
      (await childrenOf([event(started(), child('sa-1')), event(turnStarted(4)), event(ended(), child('sa-1')), ...events]))[0]?.end?.turnsSince
    expect(await since()).toBe(0)
    expect(await since(event(turnEnded(4, 'x')))).toBe(0)
    expect(await since(event(turnStarted(4)))).toBe(0)
    expect(await since(event(turnEnded(4, 'x')), event(turnStarted(5)), event(turnStarted(5)), event(turnEnded(5, 'x')), event(turnStarted(6)))).toBe(2)
    expect(await since(event(turnStarted(1), child('sa-1')), event(turnStarted(9), child('sa-2')))).toBe(0)
  })

  test('KIN-09: the first end counts; an end without a beginning is of no child anybody asked for', async () => {
    expect(await childrenOf([
      event(started(), child('sa-1')), event(ended({ status: 'killed', cause: 'user' }), child('sa-1')), event(ended(), child('sa-1')), event(ended(), child('sa-2')),
    ])).toMatchObject([{ id: 'sa-1', end: { status: 'killed', cause: 'user' } }])
  })

  test('an agent without any has none, and so has one nobody knows', async () => {
    expect(await childrenOf([])).toEqual([])
    expect(await childrenOf([event(started(), child('sa-1'))], 'sa-1')).toEqual([])
  })
})

describe('DEL-07: a result has reached the parent', () => {
  const background = [event(started({ background: true, callId: 'c1' }), child('sa-1')), event(started({ background: true }), child('sa-2'))]
  const handed = async (...events: NewEvent[]) => (await childrenOf([...background, ...events])).map((row) => row.handed)
  const over = [event(ended(), child('sa-1')), event(ended(), child('sa-2'))]

  test('of a background child when a notice names it, or an outcome hands it over', async () => {
    expect(await handed(...over)).toEqual([false, false])
    expect(await handed(...over, event(noticed('sa-2')))).toEqual([false, true])
    expect(await handed(...over, event(callEnded(1, call('w', 'agent_wait'), 'both', ['sa-1', 'sa-2'])))).toEqual([true, true])
  })

  test('not by the outcome of the call that started it, a turn, or what another agent was told', async () => {
    expect(await handed(...over, event(callEnded(1, call('c1', 'agent'))), event(turnStarted(2)))).toEqual([false, false])
    expect(await handed(...over, event(noticed('sa-1'), child('sa-2')), event(callEnded(1, call('x'), '', ['sa-2']), child('sa-1')))).toEqual([false, false])
  })

  test('not before it has ended', async () => {
    expect(await handed(event(callEnded(1, call('k', 'agent_check'), 'so far', ['sa-1'])))).toEqual([false, false])
  })

  test('of a foreground child with the outcome of the call that started it', async () => {
    const [one, two] = [call('f1', 'agent'), call('f2', 'agent')]
    const asked = [
      event(turnStarted(1)), event(turnEnded(1, '', [one, two])), event(callStarted(1, one)), event(callStarted(1, two)),
      event(started({ callId: 'f1' }), child('sa-1')), event(started({ callId: 'f2' }), child('sa-2')),
      event(ended(), child('sa-1')), event(ended(), child('sa-2')),
    ]
    const of = async (...events: NewEvent[]) => (await childrenOf([...asked, ...events])).map((row) => row.handed)
    expect(await of()).toEqual([false, false])
    expect(await of(event(callEnded(1, two)))).toEqual([false, true])
    expect(await of(event(callEnded(1, one)), event(callEnded(1, two)), event(turnStarted(2)))).toEqual([true, true])
    // The root run was stopped after the first answer, and goes on.
    const stopped = [event(callEnded(1, one)), event(ended({ status: 'killed', cause: 'user' })), event(started()), event(turnStarted(2))]
    expect(await of(...stopped)).toEqual([true, false])
  })
})

describe('DEL-06: the outbox', () => {
  test('holds the background children that ended and whose result reached nobody, in the order of their ends', async () => {
    const journal = newJournal()
    await journal.append([
      event(started()),
      ...['sa-1', 'sa-2', 'sa-3', 'sa-4'].map((id) => event(started({ background: true }), child(id))),
      event(started({ callId: 'f' }), child('sa-5')),
      event(ended(), child('sa-3')), event(ended(), child('sa-5')), event(ended({ status: 'failed', cause: 'crashed' }), child('sa-1')), event(ended(), child('sa-2')),
    ])
    expect(journal.undelivered('sa-root')).toEqual(['sa-3', 'sa-1', 'sa-2'])
    await journal.append([event(noticed('sa-1'))])
    expect(journal.undelivered('sa-root')).toEqual(['sa-3', 'sa-2'])
    await journal.append([event(callEnded(3, call('s', 'agent_stop'), 'Stopped.', ['sa-3']))])
    expect(journal.undelivered('sa-root')).toEqual(['sa-2'])
    expect(journal.undelivered('sa-1')).toEqual([])
  })

  test('is the same from another process, and empty once each result was delivered, whichever way and in whatever order', async () => {
    const journal = newJournal()
    const other = newJournal({ file: journal.file })
    let families = 0
    const act = fc.record({ child: fc.nat(7), by: fc.constantFrom('end', 'notice', 'hand') })
    await fc.assert(fc.asyncProperty(fc.array(act, { maxLength: 40 }), fc.array(fc.boolean(), { minLength: 8, maxLength: 8 }), async (acts, isBackground) => {
      const parent = `sa-p${families += 1}`
      const id = (n: number) => `${parent}-${n}`
      await journal.append(isBackground.map((background, n) => event(started({ background, callId: `c${n}` }), child(id(n), 1_000, parent))))
      const out: string[] = []
      const over = new Set<string>()
      const delivered = new Map<string, number>()
      for (const { child: n, by } of acts) {
        if (by === 'end') {
          if (over.has(id(n))) continue
          over.add(id(n))
          if (isBackground[n]) out.push(id(n))
          await journal.append([event(ended(), child(id(n), 2_000, parent))])
        } else {
          // As a parent does: it takes what is in the outbox, all at once by a call, or one by a notice.
          const waiting = other.undelivered(parent)
          const taken = by === 'hand' ? waiting : waiting.slice(0, 1)
          for (const of of taken) delivered.set(of, (delivered.get(of) ?? 0) + 1)
          out.splice(0, taken.length)
          if (taken.length > 0) await journal.append(by === 'hand' ? [event(callEnded(1, call('w'), '', taken), { agent: parent })] : taken.map((of) => event(noticed(of), { agent: parent })))
        }
        expect(journal.undelivered(parent)).toEqual(out)
      }
      const rows = journal.children(parent)
      expect([...delivered.values()].every((times) => times === 1)).toBe(true)
      expect(rows.filter(({ background, handed }) => background && handed).map((row) => row.id).toSorted()).toEqual([...delivered.keys()].toSorted())
      expect(rows.filter(({ background, handed, end }) => background && end && !handed)).toHaveLength(out.length)
    }), { numRuns: 60 })
  })
})
