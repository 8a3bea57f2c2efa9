import { mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'

import { describe, expect, onTestFinished, test, vi } from 'vitest'

import { openJournal } from '../../src/journal/journal.ts'
import { LEASE } from '../../src/journal/lease.ts'
import { call, ended, event, newJournal, queued, sent, sessionEnded, sessionStarted, started, tempFolder, turnEnded } from './story.ts'

const DAY_MS = 86_400_000

describe('CMD-08: the list of sessions', () => {
  test('shows each with its figures, newest first, summed over all its agents', async () => {
    const journal = newJournal()
    const child = { agent: 'sa-1', parent: 'sa-root' }
    await journal.append([
      event(sessionStarted('Look around'), { time: 1_000 }),
      event(started()),
      event(queued(), child),
      event(started(), child),
      event(turnEnded(1, '', [call('a')]), child),
      event(turnEnded(2, 'x'), child),
      event(turnEnded(1, 'done')),
      event(ended({ costUsd: 0.5 }), child),
      event(ended({ costUsd: 0.25 })),
      event(sessionEnded('partial'), { time: 9_000 }),
      event(sessionStarted('Sweep', 'sweep'), { session: 'ss-2', agent: 'sa-x', time: 5_000 }),
    ])
    expect(journal.sessions()).toEqual([
      {
        id: 'ss-2', kind: 'sweep', title: 'Sweep', cwd: '/repo/src', root: '/repo', started: 5_000, ended: null, status: 'running',
        agents: 0, turns: 0, tokens: 0, costUsd: 0,
      },
      {
        id: 'ss-1', kind: 'run', title: 'Look around', cwd: '/repo/src', root: '/repo', started: 1_000, ended: 9_000, status: 'partial',
        agents: 2, turns: 3, tokens: 390, costUsd: 0.75,
      },
    ])
  })

  test('JRN-09: hides sessions another one started, unless asked for all', async () => {
    const journal = newJournal()
    await journal.append([event(sessionStarted()), event(sessionStarted('Child'), { session: 'ss-c', agent: 'sa-c', parent: 'sa-root' })])
    expect(journal.sessions().map(({ id }) => id)).toEqual(['ss-1'])
    expect(journal.sessions({ all: true }).map(({ id }) => id)).toEqual(['ss-c', 'ss-1'])
  })

  test('a session is found by its id or the beginning of it, when only one begins so', async () => {
    const journal = newJournal()
    await journal.append(['ss-ab', 'ss-abc', 'ss-b%', 'ss-ü'].map((session) => event(sessionStarted(), { session })))
    const found = ['ss-ab', 'ss-abc', 'ss-a', 'ss-b', 'ss-', 'ss-ü', 'ss-%', 'ss_', '', 'x'].map((prefix) => journal.findSession(prefix))
    expect(found).toEqual(['ss-ab', 'ss-abc', undefined, 'ss-b%', undefined, 'ss-ü', undefined, undefined, undefined, undefined])
  })

  test('those with the newest events are named without a look at what is in them, and whether each has ended', async () => {
    const journal = newJournal()
    expect(journal.recentSessions(10)).toEqual([])
    for (const session of ['ss-b', 'ss-c', 'ss-a']) await journal.append([event(sessionStarted(), { session }), event(started(), { session })])
    await journal.append([event(sessionEnded('completed'), { session: 'ss-b' })])
    expect([journal.recentSessions(10), journal.recentSessions(2)]).toEqual([['ss-b', 'ss-a', 'ss-c'], ['ss-b', 'ss-a']])
    expect(['ss-a', 'ss-b', 'ss-none'].map((session) => journal.hasEnded(session))).toEqual([false, true, false])
    await journal.append([event(sessionStarted(), { session: 'ss-b' })])
    expect(journal.hasEnded('ss-b')).toBe(false)
  })

  test('JRN-05: one that was resumed runs again, with its first start, until it ends again; cut off in between it is interrupted', async () => {
    const file = join(tempFolder(), 'journal.sqlite')
    const first = openJournal({ file, sync: 'normal' })
    await first.append([
      event(sessionStarted(), { time: 1 }), event(started()), event(turnEnded(1, 'x')), event(ended({ costUsd: 0.5 })), event(sessionEnded('failed'), { time: 2 }),
    ])
    const second = openJournal({ file, sync: 'normal' })
    second.claim('ss-1')
    await second.append([event(sessionStarted(), { time: 3 }), event(started()), event(sent('More.')), event(turnEnded(2, 'y'))])
    expect(first.sessions()).toMatchObject([{ started: 1, ended: null, status: 'running', agents: 1, turns: 2, costUsd: 0.5 }])
    await second.close()
    expect(first.sessions()).toMatchObject([{ started: 1, ended: null, status: 'interrupted' }])
    first.claim('ss-1')
    await first.append([event(sessionStarted(), { time: 5 }), event(started()), event(ended({ costUsd: 0.25 })), event(sessionEnded('completed'), { time: 6 })])
    expect(first.sessions()).toMatchObject([{ started: 1, ended: 6, status: 'completed', agents: 1, turns: 2, costUsd: 0.75 }])
    await first.close()
  })
})

describe('JRN-07: whose session it is', () => {
  test('a session without an end is interrupted once its journal closed, its process went, or it was silent for 15 s', async () => {
    const file = join(tempFolder(), 'journal.sqlite')
    const owner = openJournal({ file, sync: 'normal' })
    await owner.append([event(sessionStarted())])
    const watcher = newJournal({ file })
    const status = () => watcher.sessions().map((row) => row.status)
    const pretend = (pid: number, beat: number) => {
      const db = new DatabaseSync(file)
      db.prepare('UPDATE lease SET pid = ?, beat = ?').run(pid, beat)
      db.close()
    }
    expect(status()).toEqual(['running'])
    pretend(process.pid, Date.now() - LEASE.freeMs)
    expect(status()).toEqual(['interrupted'])
    pretend(2 ** 22 + 1, Date.now())
    expect(status()).toEqual(['interrupted'])
    pretend(process.pid, Date.now())
    expect(status()).toEqual(['running'])
    await owner.close()
    expect(status()).toEqual(['interrupted'])
  })

  test('its owner is heard of every 5 s, and never in the name of a forerunner with its process id', async () => {
    vi.useFakeTimers({ toFake: ['setInterval'] })
    onTestFinished(() => void vi.useRealTimers())
    const journal = newJournal()
    await journal.append([event(sessionStarted())])
    const db = new DatabaseSync(journal.file)
    db.prepare('INSERT INTO lease (session, pid, beat) VALUES (?, ?, ?)').run('ss-forerunner', process.pid, 1)
    db.exec('UPDATE lease SET beat = 1')
    expect(journal.sessions()).toMatchObject([{ status: 'interrupted' }])
    vi.advanceTimersByTime(LEASE.beatMs)
    expect(journal.sessions()).toMatchObject([{ status: 'running' }])
    expect(db.prepare('SELECT beat FROM lease WHERE session = ?').get('ss-forerunner')).toEqual({ beat: 1 })
    db.close()
  })

  test('closing one journal of a process leaves the sessions of another one alone', async () => {
    const file = join(tempFolder(), 'journal.sqlite')
    const [one, two] = [openJournal({ file, sync: 'normal' }), newJournal({ file })]
    await one.append([event(sessionStarted(), { session: 'ss-one' })])
    await two.append([event(sessionStarted(), { session: 'ss-two' })])
    await one.close()
    expect(two.sessions().map(({ id, status }) => `${id} ${status}`)).toEqual(['ss-two running', 'ss-one interrupted'])
  })
})

describe('JRN-09: old sessions', () => {
  const now = Date.now()
  const session = (id: string, endedAt: number | null, path?: string) => {
    const whom = { session: id, agent: `sa-${id}`, time: 1 }
    const worktree = path === undefined ? null : { path, branch: 'b', baseSha: '1', behind: 0 }
    return [
      event(sessionStarted(id), whom),
      event(ended({ worktree }), { ...whom, key: id }),
      ...(endedAt === null ? [] : [event(sessionEnded(), { ...whom, time: endedAt })]),
    ]
  }

  test('that ended more than so many days ago are deleted whole; not younger ones, unended ones, or one with a kept worktree', async () => {
    const journal = newJournal()
    const worktree = join(tempFolder(), 'worktree')
    mkdirSync(worktree)
    await journal.append([
      ...session('old', now - 31 * DAY_MS),
      ...session('young', now - 29 * DAY_MS),
      ...session('never ended', null),
      ...session('kept worktree', now - 31 * DAY_MS, worktree),
      ...session('removed worktree', now - 31 * DAY_MS, `${worktree}-removed`),
      ...session('resumed', now - 40 * DAY_MS),
      event(sessionStarted(), { session: 'resumed', time: now - 35 * DAY_MS }),
      event(sent('the newest event is of another session'), { session: 'young' }),
    ])
    expect(journal.prune(30)).toBe(2)
    expect(journal.sessions().map(({ id }) => id)).toEqual(['resumed', 'kept worktree', 'never ended', 'young'])
    expect([...journal.events({ session: 'old' })]).toEqual([])
    expect(journal.findByKey('old')).toBeUndefined()
    expect(journal.hasAgent('sa-old')).toBe(false)
    rmSync(worktree, { recursive: true })
    expect(journal.prune(30)).toBe(1)
    expect(journal.prune(30)).toBe(0)
  })

  test('a number is never given twice, also after the newest events were due', async () => {
    const journal = newJournal()
    await journal.append([...session('older', now - 50 * DAY_MS), ...session('old', now - 40 * DAY_MS)])
    journal.prune(30)
    const [next] = await journal.append([event(sent('next'))])
    expect(next?.seq).toBe(7)
    expect(journal.prune(30)).toBe(1)
    expect([...journal.events()].map(({ seq }) => seq)).toEqual([7])
  })

  test('while another process writes, they are left for the next start', async () => {
    const journal = newJournal()
    await journal.append([...session('old', now - 40 * DAY_MS), event(sent('newer'))])
    const other = new DatabaseSync(journal.file)
    other.exec('BEGIN IMMEDIATE')
    expect(journal.prune(30)).toBe(0)
    other.exec('COMMIT')
    other.close()
    expect(journal.prune(30)).toBe(1)
  })
})
