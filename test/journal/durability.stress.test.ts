import { copyFileSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'

import { describe, expect, test } from 'vitest'

import type { CadreEvent } from '../../src/core/events.ts'
import type { Journal } from '../../src/journal/journal.ts'
import { openJournal } from '../../src/journal/journal.ts'
import { openDatabase } from '../../src/journal/schema.ts'
import { openWriter } from '../../src/journal/writer.ts'
import { startAppender } from './child.ts'
import { event, newJournal, sent, sessionStarted, tempFolder } from './story.ts'

/** The numbers of the appends that are in the journal, each with the seqs of its events. */
function appendsIn(journal: Journal, session?: string): Map<number, readonly number[]> {
  const found = new Map<number, readonly number[]>()
  for (const one of journal.events({ types: ['message.sent'], ...(session !== undefined && { session }) })) {
    const n = numberOf(one)
    found.set(n, [...(found.get(n) ?? []), one.seq])
  }
  return found
}

const numberOf = (one: CadreEvent): number => (one.type === 'message.sent' ? Number.parseInt(one.data.text, 10) : -1)

describe('JRN-02, JRN-03: kill -9', () => {
  for (const acknowledged of [1, 40, 200]) {
    test(`after ${acknowledged} acknowledged appends loses none of them and leaves none half written`, async () => {
      const file = join(tempFolder(), 'journal.sqlite')
      const child = startAppender([file, 'ss-k', 0, 3, 2_000])
      await child.said(1 + acknowledged)
      const watching = newJournal({ file })
      expect(watching.sessions()).toMatchObject([{ id: 'ss-k', status: 'running', ended: null }])
      const lines = await child.killed()

      const journal = newJournal({ file })
      const found = appendsIn(journal)
      for (const line of lines.slice(1)) {
        const [n, seq = 0] = line.split(' ').map(Number)
        expect(found.get(n ?? -1)).toEqual([seq, seq + 1, seq + 2])
      }
      expect([...found.values()].filter(({ length }) => length !== 3)).toEqual([])
      expect(journal.sessions()).toMatchObject([{ id: 'ss-k', status: 'interrupted', ended: null }])
    })
  }
})

describe('JRN-01: several processes, one file', () => {
  test('that open a new file at once all write to it; numbers are unique, and each keeps its order and its groups', async () => {
    const file = join(tempFolder(), 'journal.sqlite')
    const sessions = ['ss-a', 'ss-b', 'ss-c', 'ss-d']
    const children = sessions.map((session) => startAppender([file, session, 200, 3]))
    const said = await Promise.all(children.map((child) => child.ended()))
    expect(said.map((lines) => lines.at(-1))).toEqual(sessions.map(() => 'walked 602'))

    const journal = newJournal({ file })
    const seqs = [...journal.events()].map(({ seq }) => seq)
    expect(seqs).toEqual(Array.from({ length: 4 * (2 + 600) }, (_, at) => at + 1))
    for (const session of sessions) {
      const appends = [...appendsIn(journal, session)]
      expect(appends.map(([n]) => n)).toEqual(Array.from({ length: 200 }, (_, n) => n))
      for (const [, [first = 0, ...rest]] of appends) expect(rest).toEqual([first + 1, first + 2])
    }
  })

  test('a writer waits for another one\'s transaction without standing still, and what comes meanwhile joins its group', async () => {
    const journal = newJournal()
    const other = new DatabaseSync(journal.file)
    other.exec('BEGIN IMMEDIATE')
    const settled: string[] = []
    const first = journal.append([event(sent('first'))]).then(() => settled.push('first'))
    for (let turn = 0; turn < 50; turn += 1) await new Promise((resolve) => setImmediate(resolve))
    const second = journal.append([event(sent('second'))]).then(() => settled.push('second'))
    expect(settled).toEqual([])
    expect([...journal.events()]).toEqual([])
    other.exec('COMMIT')
    other.close()
    await Promise.all([first, second])
    expect(settled).toEqual(['first', 'second'])
  })
})

describe('JRN-08: nothing is held in memory', () => {
  test('a process writes, and walks through, four times the text its heap could hold', async () => {
    const lines = await startAppender([join(tempFolder(), 'journal.sqlite'), 'ss-big', 400, 4, 100_000], { heapMb: 40 }).ended()
    expect(lines.at(-1)).toBe('walked 1602')
  })
})

describe('a journal that cannot be written says which file and what to do', () => {
  test('when the disk takes no more: the group is not half written, and all that was acknowledged can be read', async () => {
    const file = join(tempFolder(), 'journal.sqlite')
    const lines = await startAppender([file, 'ss-full', 0, 3, 20_000], { shellLimit: 'ulimit -f 4096' }).ended()
    expect(lines.at(-1)).toContain('"code":"JOURNAL"')
    expect(lines.at(-1)).toMatch(/The journal .*journal\.sqlite cannot be written: .*\. (Free some space|Check the disk)/)
    const journal = newJournal({ file })
    const found = appendsIn(journal)
    const acknowledged = lines.filter((line) => /^\d/.test(line)).map((line) => Number.parseInt(line, 10))
    expect(acknowledged.length).toBeGreaterThan(4)
    expect([...found.keys()].toSorted((a, b) => a - b)).toEqual(acknowledged.toSorted((a, b) => a - b))
    expect([...found.values()].every(({ length }) => length === 3)).toBe(true)
    await journal.append([event(sent('there is space again'))])
  })

  const losses: Readonly<Record<string, (file: string) => void>> = {
    deleted: (file) => rmSync(file),
    'moved away': (file) => renameSync(file, `${file}.old`),
    'replaced by a copy': (file) => {
      copyFileSync(file, `${file}.copy`)
      renameSync(`${file}.copy`, file)
    },
  }
  for (const [how, lose] of Object.entries(losses)) {
    test(`when its file is ${how}`, async () => {
      const journal = openJournal({ file: join(tempFolder(), 'journal.sqlite'), sync: 'normal' })
      await journal.append([event(sessionStarted())])
      lose(journal.file)
      const both = await Promise.allSettled([journal.append([event(sent('a'))]), journal.append([event(sent('b'))])])
      for (const outcome of both) {
        expect(outcome).toMatchObject({ status: 'rejected', reason: { code: 'JOURNAL' } })
        expect(String(outcome.status === 'rejected' && outcome.reason))
          .toContain(`The journal ${journal.file} is gone: it was deleted, moved or replaced while in use. Put it back, or start again`)
      }
      await journal.close()
    })
  }

  test('when another process holds it for too long', async () => {
    const file = join(tempFolder(), 'journal.sqlite')
    const writer = openWriter(openDatabase(file, 'normal'), file, (json) => json, 0)
    const other = new DatabaseSync(file)
    other.exec('BEGIN IMMEDIATE')
    await expect(writer.append([event(sent('too late'))])).rejects.toThrow(/another process holds it .* End the process that holds it/)
    other.exec('COMMIT')
    other.close()
    await writer.append([event(sent('in time'))])
    await writer.close()
    expect([...newJournal({ file }).events()]).toHaveLength(1)
  })
})

describe('a file that is no journal of ours is left as it is', () => {
  const files: Readonly<Record<string, { readonly make: (file: string) => void; readonly says: RegExp }>> = {
    'text': {
      make: (file) => writeFileSync(file, 'not a database, but long enough to be taken for one'.repeat(100)),
      says: /it is not a journal .*Move the file away/,
    },
    'a journal of a newer Cadre': {
      make: (file) => {
        openDatabase(file, 'normal').close()
        const db = new DatabaseSync(file)
        db.exec('PRAGMA user_version = 99')
        db.close()
      },
      says: /was written by a newer Cadre \(its version is 99, this one reads 2\)\. Update Cadre, or set CADRE_JOURNAL/,
    },
    'a database of something else': {
      make: (file) => {
        const db = new DatabaseSync(file)
        db.exec('CREATE TABLE recipes (x)')
        db.close()
      },
      says: /is a database of another program\. Set CADRE_JOURNAL/,
    },
  }
  for (const [what, { make, says }] of Object.entries(files)) {
    test(what, () => {
      const file = join(tempFolder(), 'journal.sqlite')
      make(file)
      const before = readFileSync(file)
      let thrown: unknown
      try {
        openJournal({ file, sync: 'normal' })
      } catch (error) {
        thrown = error
      }
      expect(thrown).toMatchObject({ code: 'JOURNAL' })
      expect(String(thrown)).toContain(file)
      expect(String(thrown)).toMatch(says)
      expect(readFileSync(file)).toEqual(before)
    })
  }

  test('a folder that cannot be made', () => {
    const folder = tempFolder()
    writeFileSync(join(folder, 'file'), '')
    expect(() => openJournal({ file: join(folder, 'file', 'journal.sqlite'), sync: 'normal' }))
      .toThrow(/The journal .* cannot be opened: .*\. Check that its folder exists and is yours/)
  })
})
