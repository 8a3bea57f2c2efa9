import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'

import { describe, expect, onTestFinished, test } from 'vitest'

import { openJournal } from '../../src/journal/journal.ts'
import { LEASE } from '../../src/journal/lease.ts'
import { startAppender } from './child.ts'
import { ended, event, newJournal, sent, sessionEnded, sessionStarted, started, tempFolder } from './story.ts'

const STRANGER = 'another-owner'

/** Changes the lease of `ss-1` from outside: as another process would, or as time does. */
function pretend(file: string, lease: { readonly pid?: number; readonly beat?: number; readonly owner?: string }): void {
  const db = new DatabaseSync(file)
  db.prepare('UPDATE lease SET pid = coalesce(?, pid), beat = coalesce(?, beat), owner = coalesce(?, owner) WHERE session = ?')
    .run(lease.pid ?? null, lease.beat ?? null, lease.owner ?? null, 'ss-1')
  db.close()
}

const textsOf = (journal: ReturnType<typeof newJournal>) =>
  [...journal.events({ types: ['message.sent'] })].map(({ data }) => ('text' in data ? data.text : ''))

describe('JRN-07: a session has one owner process', () => {
  test('a session another live process runs cannot be claimed, and the error names the process', async () => {
    const file = join(tempFolder(), 'journal.sqlite')
    const owner = startAppender([file, 'ss-1', 0, 1])
    await owner.said(1)
    const journal = newJournal({ file })
    expect(() => journal.claim('ss-1')).toThrow(`Session ss-1 is in use by process ${owner.pid}.`)
    await owner.killed()
    journal.claim('ss-1')
    expect(journal.sessions()).toMatchObject([{ id: 'ss-1', status: 'running' }])
    await journal.append([event(sessionStarted()), event(started()), event(sent('goes on here')), event(ended()), event(sessionEnded('completed'))])
    expect(journal.sessions()).toMatchObject([{ status: 'completed' }])
  })

  test('nor one this process runs, in the same journal or another; one that has ended can', async () => {
    const journal = newJournal()
    const other = newJournal({ file: journal.file })
    await journal.append([event(sessionStarted())])
    for (const asking of [journal, other]) {
      let thrown: unknown
      try {
        asking.claim('ss-1')
      } catch (error) {
        thrown = error
      }
      expect(thrown).toMatchObject({ code: 'USAGE', message: `Session ss-1 is in use by process ${process.pid}.` })
    }
    await journal.append([event(sessionEnded())])
    other.claim('ss-1')
    expect(() => journal.claim('ss-1')).toThrow('is in use')
    await expect(journal.append([event(sessionStarted())])).rejects.toThrow(`Session ss-1 is in use by process ${process.pid}.`)
    await other.append([event(sessionStarted())])
  })

  test('one whose owner was silent for 15 s, or is gone, can be claimed, but only by one', async () => {
    const file = join(tempFolder(), 'journal.sqlite')
    await openJournal({ file, sync: 'normal' }).append([event(sessionStarted())])
    const [one, two] = [newJournal({ file }), newJournal({ file })]
    pretend(file, { pid: process.ppid, owner: STRANGER })
    expect(() => one.claim('ss-1')).toThrow(`Session ss-1 is in use by process ${process.ppid}.`)
    pretend(file, { beat: Date.now() - LEASE.freeMs })
    one.claim('ss-1')
    expect(() => two.claim('ss-1')).toThrow('is in use by process')
    pretend(file, { pid: 2 ** 22 + 1, owner: STRANGER })
    two.claim('ss-1')
  })

  test('a forerunner that had this very process id does not keep its session', async () => {
    const file = join(tempFolder(), 'journal.sqlite')
    const journal = newJournal({ file })
    await newJournal({ file }).append([event(sessionStarted())])
    pretend(file, { owner: STRANGER, beat: Date.now() })
    expect(journal.sessions()).toMatchObject([{ status: 'interrupted' }])
    journal.claim('ss-1')
  })

  test('a claim that is given up by closing leaves the session free', async () => {
    const file = join(tempFolder(), 'journal.sqlite')
    const first = openJournal({ file, sync: 'normal' })
    first.claim('ss-1')
    await first.close()
    newJournal({ file }).claim('ss-1')
  })

  test('a claim waits for another process\'s transaction', async () => {
    const journal = newJournal()
    const hold = `const { DatabaseSync } = require('node:sqlite')
      const db = new DatabaseSync(process.argv[1])
      db.exec('BEGIN IMMEDIATE')
      console.log('held')
      setTimeout(() => db.exec('COMMIT'), 200)`
    const holder = spawn(process.execPath, ['-e', hold, journal.file], { stdio: ['ignore', 'pipe', 'inherit'] })
    onTestFinished(() => void holder.kill('SIGKILL'))
    await once(holder.stdout, 'data')
    journal.claim('ss-1')
    expect(() => journal.claim('ss-1')).toThrow('is in use')
  })
})

describe('JRN-07: who slept and lost its session writes nothing more into it', () => {
  const taken = [
    { how: 'and runs it', end: false, says: `Session ss-1 was taken over by process ${process.pid}.` },
    { how: 'and has ended it', end: true, says: 'Session ss-1 was taken over by another process.' },
  ]
  for (const { how, end, says } of taken) {
    test(`when another one took it ${how}; other sessions' events of the same group are written`, async () => {
      const sleeper = newJournal()
      const taker = newJournal({ file: sleeper.file })
      await sleeper.append([event(sessionStarted()), event(sessionStarted(), { session: 'ss-2', agent: 'sa-2' })])
      pretend(sleeper.file, { beat: Date.now() - LEASE.freeMs })
      taker.claim('ss-1')
      await taker.append([event(sessionStarted()), ...(end ? [event(sessionEnded())] : [])])
      const outcomes = await Promise.allSettled([
        sleeper.append([event(sent('of ss-2, before'), { session: 'ss-2', agent: 'sa-2' })]),
        sleeper.append([event(sent('late'))]),
        sleeper.append([event(sent('of ss-2, with one of ss-1'), { session: 'ss-2', agent: 'sa-2' }), event(sent('late, too'))]),
        sleeper.append([event(sessionEnded())]),
        sleeper.append([event(sent('of ss-2, after'), { session: 'ss-2', agent: 'sa-2' })]),
      ])
      expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'rejected', 'rejected', 'fulfilled'])
      for (const outcome of outcomes) {
        if (outcome.status === 'rejected') expect(outcome.reason).toMatchObject({ code: 'JOURNAL', message: says })
      }
      await expect(sleeper.append([event(sent('later still'))])).rejects.toThrow(says)
      await taker.append([event(sent('of the new owner'))])
      expect(textsOf(sleeper)).toEqual(['of ss-2, before', 'of ss-2, after', 'of the new owner'])
      await sleeper.close()
      expect(taker.sessions().map(({ id, status }) => `${id} ${status}`)).toEqual(['ss-2 interrupted', `ss-1 ${end ? 'completed' : 'running'}`])
    })
  }

  test('until it claims the session again, once that is free', async () => {
    const sleeper = newJournal()
    const taker = openJournal({ file: sleeper.file, sync: 'normal' })
    await sleeper.append([event(sessionStarted())])
    pretend(sleeper.file, { beat: Date.now() - LEASE.freeMs })
    taker.claim('ss-1')
    await expect(sleeper.append([event(sent('late'))])).rejects.toThrow('taken over')
    expect(() => sleeper.claim('ss-1')).toThrow('is in use')
    await taker.close()
    sleeper.claim('ss-1')
    await sleeper.append([event(sessionStarted()), event(sent('mine again'))])
    expect(textsOf(sleeper)).toEqual(['mine again'])
  })

  test('a start that was rolled back is no loss: it can be written again', async () => {
    const journal = newJournal()
    const other = new DatabaseSync(journal.file)
    other.exec('CREATE TRIGGER refuse BEFORE INSERT ON event WHEN NEW.type = \'delegation.started\' BEGIN SELECT RAISE(ABORT, \'not now\'); END')
    await expect(journal.append([event(sessionStarted()), event(started())])).rejects.toThrow('not now')
    other.exec('DROP TRIGGER refuse')
    other.close()
    await journal.append([event(sent('of another one'), { session: 'ss-2', agent: 'sa-2' })])
    await journal.append([event(sessionStarted()), event(started())])
    expect(journal.sessions()).toMatchObject([{ status: 'running', agents: 1 }])
  })
})

describe('JRN-09', () => {
  test('an old session that was just claimed, to be resumed, is not deleted', async () => {
    const journal = newJournal()
    const day = 86_400_000
    const old = { time: Date.now() - 40 * day }
    await journal.append([event(sessionStarted(), old), event(sessionEnded(), old), event(sessionStarted('newer'), { session: 'ss-2', agent: 'sa-2' })])
    newJournal({ file: journal.file }).claim('ss-1')
    expect(journal.prune(30)).toBe(0)
    expect(journal.findSession('ss-1')).toBe('ss-1')
  })
})
