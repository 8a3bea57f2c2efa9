import { DatabaseSync } from 'node:sqlite'
import type { NewEvent } from '../../src/core/events.ts'

/** Events in a bare table of SQLite, in transactions of so many. */
export function writeBare(file: string, events: readonly NewEvent[], group: number): void {
  const db = new DatabaseSync(file)
  db.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL')
  db.exec('CREATE TABLE event (seq INTEGER PRIMARY KEY, time INTEGER, session TEXT, agent TEXT, type TEXT, data TEXT) STRICT')
  const begin = db.prepare('BEGIN IMMEDIATE')
  const insert = db.prepare('INSERT INTO event (time, session, agent, type, data) VALUES (?, ?, ?, ?, ?)')
  const commit = db.prepare('COMMIT')
  for (let at = 0; at < events.length; at += group) {
    begin.run()
    for (const { time, session, agent, type, data } of events.slice(at, at + group)) insert.run(time, session, agent, type, JSON.stringify(data))
    commit.run()
  }
  db.close()
}

/** Reads all of them back, data parsed; gives how many. */
export function readBare(file: string): number {
  const db = new DatabaseSync(file)
  let count = 0
  for (const row of db.prepare('SELECT * FROM event ORDER BY seq').iterate()) {
    JSON.parse(String(row['data']))
    count += 1
  }
  db.close()
  return count
}
