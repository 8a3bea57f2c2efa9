import type { DatabaseSync } from 'node:sqlite'

import type { Columns, Row } from './row.ts'
import { number } from './row.ts'

/** JRN-07: how often an owner shows that it lives, and after what silence its session is free. */
export const LEASE = { beatMs: 5_000, freeMs: 15_000 } as const

/** Which sessions this process runs. Rows are locks, not history: nothing is derived from them but whether an owner is there. */
export type Leases = {
  /** To be called within the transaction that writes the event: a session's first event takes its lease, its last one gives it back. */
  follow(event: Columns): void
  /** Says that this process still lives: one small write per session. */
  renew(): void
  /** Gives all back. What has not ended is `interrupted` from here on. */
  release(): void
}

export function openLeases(db: DatabaseSync, pid = process.pid): Leases {
  const own = new Set<string>()
  const take = db.prepare('INSERT INTO lease (session, pid, beat) VALUES (?1, ?2, ?3) ON CONFLICT DO UPDATE SET pid = ?2, beat = ?3')
  const drop = db.prepare('DELETE FROM lease WHERE session = ? AND pid = ?')
  const beat = db.prepare('UPDATE lease SET beat = ? WHERE session = ? AND pid = ?')
  return {
    follow({ type, session }) {
      if (type === 'session.started') {
        take.run(session, pid, Date.now())
        own.add(session)
      } else if (type === 'session.ended') {
        drop.run(session, pid)
        own.delete(session)
      }
    },
    renew() {
      // Each by its name: a process whose id was given away again must not keep its forerunner's sessions.
      for (const session of own) beat.run(Date.now(), session, pid)
    },
    release() {
      for (const session of own) drop.run(session, pid)
      own.clear()
    },
  }
}

/** Whether the owner a row (`pid`, `beat`) names is there: it wrote lately, and its process exists. */
export function isHeld(lease: Row | undefined, now = Date.now()): boolean {
  if (!lease || typeof lease['pid'] !== 'number') return false
  return now - number(lease, 'beat') < LEASE.freeMs && isAlive(lease['pid'])
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    // Not ours to signal, so it exists.
    return error instanceof Error && 'code' in error && error.code === 'EPERM'
  }
}
