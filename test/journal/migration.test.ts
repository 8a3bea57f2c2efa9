import { copyFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'

import { describe, expect, test } from 'vitest'

import { journalProblems } from '../../src/journal/integrity.ts'
import { startAppender } from './child.ts'
import { ended, event, newJournal, noticed, sent, started, tempFolder } from './story.ts'

/** A journal the first version of its tables was made for, by the Cadre of that time: a parent, a child that ended, and one that did not. */
const VERSION_1 = join(import.meta.dirname, 'fixtures', 'version-1.sqlite')

function old(): string {
  const file = join(tempFolder(), 'journal.sqlite')
  copyFileSync(VERSION_1, file)
  return file
}

/** Names and texts of all that is in a database but its rows. */
function schemaOf(file: string): readonly unknown[] {
  const db = new DatabaseSync(file)
  const found = db.prepare(`SELECT type, name, CASE type WHEN 'table' THEN (SELECT group_concat(name) FROM pragma_table_xinfo(s.name)) ELSE sql END AS text
    FROM sqlite_schema s ORDER BY type, name`).all()
  const versions = ['user_version', 'application_id'].map((name) => db.prepare(`PRAGMA ${name}`).get())
  db.close()
  return [...found, ...versions]
}

describe('a journal of an earlier Cadre', () => {
  test('is brought up to date when it is opened: the same as a new one, and sound', async () => {
    const journal = newJournal({ file: old() })
    const fresh = newJournal()
    expect(schemaOf(journal.file)).toEqual(schemaOf(fresh.file))
    expect(journalProblems(journal.file)).toEqual([])
    await journal.append([event(sent('more'))])
    expect([...journal.events()].at(-1)).toMatchObject({ seq: 12 })
    const db = new DatabaseSync(journal.file)
    expect(() => db.exec('UPDATE event SET facts = NULL')).toThrow('the journal is append-only')
    db.close()
  })

  test('keeps its events as they are, and its agents are known as if it had been written today', async () => {
    const journal = newJournal({ file: old() })
    const row = { type: 'explorer', background: false, expectedDuration: null, maxTurns: 50, turns: 0, end: null, handed: false }
    expect(journal.children('sa-root')).toEqual([
      {
        ...row, id: 'sa-1', title: 'First', callId: 'c1', spawned: 1_004, started: 1_005, turns: 3, handed: true,
        end: { time: 1_010, status: 'partial', cause: 'max_turns', firstLine: 'Two entry points: "a.ts" and b.ts.', turnsSince: 0 },
      },
      { ...row, id: 'sa-2', title: 'Second', callId: 'c2', spawned: 1_006, started: 1_006 },
    ])
    expect(journal.interrupted('ss-1').map(({ id }) => id)).toEqual(['sa-root', 'sa-2'])
    expect(journal.restore('sa-root')).toMatchObject({ turn: 1, reply: { text: 'I ask two.' }, outcomes: [{ callId: 'c1' }] })
    expect(journal.result('sa-1')).toMatchObject({ status: 'partial', turns: 3 })
    expect(journal.findByKey('item-1')).toMatchObject({ seq: 10, agent: 'sa-1' })
    journal.claim('ss-1')
    await journal.append([event(ended(), { agent: 'sa-2', parent: 'sa-root' }), event(started({ background: true }), { agent: 'sa-3', parent: 'sa-root' }), event(noticed('sa-3'))])
    expect(journal.children('sa-root').map(({ id, end }) => [id, end?.status])).toEqual([['sa-1', 'partial'], ['sa-2', 'completed'], ['sa-3', undefined]])
  })

  test('is brought up to date once when several processes open it at once', async () => {
    const file = old()
    const children = ['ss-a', 'ss-b', 'ss-c'].map((session) => startAppender([file, session, 20, 1]))
    const said = await Promise.all(children.map((child) => child.ended()))
    expect(said.map((lines) => lines.at(-1))).toEqual(['walked 22', 'walked 22', 'walked 22'])
    expect(newJournal({ file }).children('sa-root')).toHaveLength(2)
  })

  test('that cannot be brought up to date is left as it was', () => {
    const file = old()
    const db = new DatabaseSync(file)
    db.exec('CREATE TABLE event_child (x)')
    const before = schemaOf(file)
    expect(() => newJournal({ file })).toThrow(/The journal .* cannot be opened/)
    expect(schemaOf(file)).toEqual(before)
    db.close()
  })
})
