import { existsSync } from 'node:fs'
import type { DatabaseSync } from 'node:sqlite'

import { isBusy } from './fault.ts'
import { isHeld } from './lease.ts'
import type { Row } from './row.ts'
import { number, text } from './row.ts'
import { LIFE } from './schema.ts'

const DAY_MS = 86_400_000

/**
 * JRN-09: deletes the sessions that ended more than `keepDays` days ago, each whole and in a transaction of its own; but not one whose
 * agents left a worktree that still exists, nor one that is about to be resumed, nor the one with the newest event (a `seq` is never given
 * twice). Returns how many went. Other processes may be writing: what cannot be had now is left for the next start.
 */
export function prune(db: DatabaseSync, keepDays: number, now = Date.now()): number {
  const candidates: readonly Row[] = db.prepare(`
    SELECT session, max(seq) FILTER (WHERE type = 'session.started') AS start, max(seq) FILTER (WHERE type = 'session.ended') AS end
    FROM event INDEXED BY event_life WHERE (${LIFE}) GROUP BY session HAVING end > start`).all()
  const ended = db.prepare('SELECT time FROM event WHERE seq = ?')
  const newest = db.prepare('SELECT session FROM event ORDER BY seq DESC LIMIT 1')
  const worktrees = db.prepare(`SELECT data ->> '$.result.worktree.path' AS path FROM event INDEXED BY event_life
    WHERE (${LIFE}) AND session = ? AND type = 'delegation.ended' AND path IS NOT NULL`)
  let gone = 0
  for (const row of candidates) {
    const session = text(row, 'session')
    if (number(ended.get(number(row, 'end')) ?? {}, 'time') >= now - keepDays * DAY_MS) continue
    if (worktrees.all(session).some((worktree) => existsSync(text(worktree, 'path')))) continue
    if (newest.get()?.['session'] === session) continue
    const removed = remove(db, session)
    if (removed === 'busy') break
    if (removed === 'gone') gone += 1
  }
  return gone
}

function remove(db: DatabaseSync, session: string): 'gone' | 'held' | 'busy' {
  try {
    db.exec('BEGIN IMMEDIATE')
    if (isHeld(db.prepare('SELECT pid, beat, owner FROM lease WHERE session = ?').get(session))) {
      db.exec('ROLLBACK')
      return 'held'
    }
    db.prepare('INSERT INTO pruning VALUES (?)').run(session)
    db.prepare('DELETE FROM event WHERE session = ?').run(session)
    db.prepare('DELETE FROM lease WHERE session = ?').run(session)
    db.exec('DELETE FROM pruning; COMMIT')
    return 'gone'
  } catch (error) {
    if (db.isTransaction) db.exec('ROLLBACK')
    if (isBusy(error)) return 'busy'
    throw error
  }
}
