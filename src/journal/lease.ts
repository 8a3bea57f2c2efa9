import { randomUUID } from 'node:crypto'
import type { DatabaseSync } from 'node:sqlite'

import { CadreError } from '../core/errors.ts'
import type { Columns, Row } from './row.ts'
import { number } from './row.ts'

/** JRN-07: how often an owner shows that it lives, and after what silence its session is free. */
export const LEASE = { beatMs: 5_000, freeMs: 15_000 } as const

/** The owners in this process: a lease with its process id and none of these is one of a forerunner's that had the same id. */
const OWNERS_HERE = new Set<string>()

/**
 * Which sessions this owner runs. Rows are locks, not history: nothing is derived from them but whether an owner is there. All but `settle` and
 * `renew` are to be called within a transaction.
 */
export type Leases = {
  /** Why an event must not be written: its session has another owner (USAGE), or got one since (JOURNAL). Null when it may be. */
  refusal(event: Columns): CadreError | null
  /** A session's first event takes its lease, its last one gives it back. */
  follow(event: Columns): void
  /** Takes a session's lease. Throws USAGE while anyone runs it, this owner included. */
  claim(session: string): void
  /** Says whether the transaction in which leases were taken and given back came about. */
  settle(committed: boolean): void
  /** Says that this owner still lives: one small write per session. */
  renew(): void
  /** Gives all back. What has not ended is `interrupted` from here on. */
  release(): void
}

export function openLeases(db: DatabaseSync, pid = process.pid): Leases {
  const owner = randomUUID()
  const own = new Set<string>()
  /** Sessions that another owner took, and its process if that is known. */
  const lost = new Map<string, number | null>()
  let changes: (() => void)[] = []
  const look = db.prepare('SELECT pid, beat, owner FROM lease WHERE session = ?')
  const take = db.prepare(`INSERT INTO lease (session, pid, beat, owner) VALUES (?1, ?2, ?3, ?4)
    ON CONFLICT DO UPDATE SET pid = ?2, beat = ?3, owner = ?4`)
  const drop = db.prepare('DELETE FROM lease WHERE session = ? AND owner = ?')
  const beat = db.prepare('UPDATE lease SET beat = ? WHERE session = ? AND owner = ?')
  OWNERS_HERE.add(owner)

  function takeFor(session: string): void {
    take.run(session, pid, Date.now(), owner)
    changes.push(() => {
      own.add(session)
      lost.delete(session)
    })
  }

  return {
    refusal({ session }) {
      const row = look.get(session)
      if (row?.['owner'] === owner) return null
      if (own.delete(session)) lost.set(session, row ? number(row, 'pid') : null)
      const taker = lost.get(session)
      if (taker !== undefined) {
        return new CadreError('JOURNAL', `Session ${session} was taken over by ${taker === null ? 'another process' : `process ${taker}`}.`)
      }
      return isHeld(row) ? inUse(session, row) : null
    },
    follow({ type, session }) {
      if (type === 'session.started') takeFor(session)
      else if (type === 'session.ended') {
        drop.run(session, owner)
        changes.push(() => own.delete(session))
      }
    },
    claim(session) {
      const row = look.get(session)
      if (own.has(session)) throw inUse(session, { pid })
      if (isHeld(row)) throw inUse(session, row)
      takeFor(session)
    },
    settle(committed) {
      if (changes.length === 0) return
      if (committed) for (const change of changes) change()
      changes = []
    },
    renew() {
      for (const session of own) beat.run(Date.now(), session, owner)
    },
    release() {
      OWNERS_HERE.delete(owner)
      for (const session of own) drop.run(session, owner)
      own.clear()
    },
  }
}

const inUse = (session: string, row: Row | undefined): CadreError =>
  new CadreError('USAGE', `Session ${session} is in use by process ${String(row?.['pid'])}.`)

/** Whether the owner a row (`pid`, `beat`, `owner`) names is there: it wrote lately, and its process exists. */
export function isHeld(lease: Row | undefined, now = Date.now()): boolean {
  if (!lease || typeof lease['pid'] !== 'number') return false
  if (lease['pid'] === process.pid && !OWNERS_HERE.has(String(lease['owner']))) return false
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
