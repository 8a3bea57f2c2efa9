import { statSync } from 'node:fs'
import type { DatabaseSync } from 'node:sqlite'

import { CadreError } from '../core/errors.ts'
import type { CadreEvent, NewEvent } from '../core/events.ts'
import type { Encoded } from './encode.ts'
import { encode } from './encode.ts'
import { isBusy, journalClosed, journalFault, journalGone } from './fault.ts'
import { LEASE, openLeases } from './lease.ts'
import type { Redact } from './redact.ts'
import { assemble } from './row.ts'

export const WRITER_LIMITS = {
  /** Events one transaction takes when more are waiting: some 20 ms, in which nothing else runs on this thread. */
  groupEvents: 2_000,
  /** How long an append waits for other processes' transactions before it fails, and how often it looks. */
  busyMs: 30_000,
  busyRetryMs: 5,
  /** How long taking a lease may stand still for them: nothing of that session runs yet. */
  claimMs: 10_000,
} as const

export type Writer = {
  append(events: readonly NewEvent[]): Promise<readonly CadreEvent[]>
  /** Takes a session's lease. Throws USAGE while anyone runs it. */
  claim(session: string): void
  close(): Promise<void>
}

type Pending = {
  readonly events: readonly Encoded[]
  readonly since: number
  resolve(events: readonly CadreEvent[]): void
  reject(error: CadreError): void
}

/**
 * Group commit: all that is appended within one turn of the event loop, or while another process holds the file, shares one transaction.
 * What one `append` was given is never split, and one that is refused takes no other with it. The transaction itself is synchronous; nothing of
 * it stays in memory afterwards.
 */
export function openWriter(db: DatabaseSync, file: string, redact: Redact, busyMs: number = WRITER_LIMITS.busyMs): Writer {
  const { ino, dev } = statSync(file)
  const begin = db.prepare('BEGIN IMMEDIATE')
  const commit = db.prepare('COMMIT')
  const insert = db.prepare('INSERT INTO event (time, session, root, agent, parent, depth, type, key, data) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)')
  const insertWhole = db.prepare(
    'INSERT INTO event (time, session, root, agent, parent, depth, type, key, data, facts, hands) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)')
  const leases = openLeases(db)
  let queue: Pending[] = []
  let scheduled = false
  let closing: Promise<void> | undefined
  let drained: (() => void) | undefined
  const beats = setInterval(() => {
    quietly(() => leases.renew())
  }, LEASE.beatMs).unref()

  function append(events: readonly NewEvent[]): Promise<readonly CadreEvent[]> {
    if (closing) return Promise.reject(journalClosed(file))
    if (events.length === 0) return Promise.resolve([])
    return new Promise((resolve, reject) => {
      queue.push({ events: events.map((event) => encode(event, redact)), since: Date.now(), resolve, reject })
      if (!scheduled) schedule(() => setImmediate(flush))
    })
  }

  function schedule(start: () => void): void {
    scheduled = true
    start()
  }

  function flush(): void {
    scheduled = false
    const group = takeGroup()
    if (group.length > 0) write(group)
    if (queue.length === 0) drained?.()
    else if (!scheduled) schedule(() => setImmediate(flush))
  }

  function takeGroup(): readonly Pending[] {
    let size = 0
    let end = 0
    for (const { events } of queue) {
      size += events.length
      if (end > 0 && size > WRITER_LIMITS.groupEvents) break
      end += 1
    }
    const group = queue.slice(0, end)
    queue = queue.slice(end)
    return group
  }

  function write(group: readonly Pending[]): void {
    try {
      const written = transact(() => {
        const refusals = new Map<string, CadreError | null>()
        return group.map(({ events }) => refusalOf(events, refusals) ?? events.map(insertOne))
      })
      group.forEach(({ resolve, reject }, at) => {
        const outcome = written[at] ?? []
        if (outcome instanceof CadreError) reject(outcome)
        else resolve(outcome)
      })
    } catch (error) {
      const patient = isBusy(error) ? group.filter(({ since }) => Date.now() - since < busyMs) : []
      const fault = journalFault(file, 'written', error)
      for (const pending of group) if (!patient.includes(pending)) pending.reject(fault)
      if (patient.length === 0) return
      queue = [...patient, ...queue]
      schedule(() => setTimeout(flush, WRITER_LIMITS.busyRetryMs))
    }
  }

  /** JRN-07: events of a session somebody else runs by now are not written. `known`: what was found in this transaction. */
  function refusalOf(events: readonly Encoded[], known: Map<string, CadreError | null>): CadreError | null {
    let last: string | null = null
    for (const { columns } of events) {
      const { session } = columns
      if (session === last) continue
      last = session
      if (!known.has(session)) known.set(session, leases.refusal(columns))
      const refusal = known.get(session)
      if (refusal) return refusal
    }
    return null
  }

  function insertOne({ columns, data, json, facts, hands }: Encoded): CadreEvent {
    const { time, session, root, agent, parent, depth, type, key } = columns
    // Most events have neither, and each value handed over costs.
    const { lastInsertRowid } = facts === null && hands === null
      ? insert.run(time, session, root, agent, parent, depth, type, key, json)
      : insertWhole.run(time, session, root, agent, parent, depth, type, key, json, facts, hands)
    leases.follow(columns)
    return assemble(Number(lastInsertRowid), columns, data)
  }

  function transact<Result>(work: () => Result): Result {
    // SQLite goes on writing into a file that has lost its name.
    const now = statSync(file, { throwIfNoEntry: false })
    if (now?.ino !== ino || now.dev !== dev) throw journalGone(file)
    begin.run()
    try {
      const result = work()
      commit.run()
      leases.settle(true)
      return result
    } catch (error) {
      leases.settle(false)
      if (db.isTransaction) db.exec('ROLLBACK')
      throw error
    }
  }

  function claim(session: string): void {
    if (closing) throw journalClosed(file)
    for (const deadline = Date.now() + WRITER_LIMITS.claimMs; ;) {
      try {
        return transact(() => leases.claim(session))
      } catch (error) {
        if (!isBusy(error) || Date.now() > deadline) throw journalFault(file, 'written', error)
      }
    }
  }

  return {
    append,
    claim,
    close() {
      closing ??= (async () => {
        if (queue.length > 0) await new Promise<void>((resolve) => { drained = resolve })
        clearInterval(beats)
        quietly(() => leases.release())
        db.close()
      })()
      return closing
    },
  }
}

/**
 * For the upkeep of leases only: a beat missed because the file is busy or broken comes 5 s later, and a lease nobody gives back runs out.
 */
function quietly(upkeep: () => void): void {
  try {
    upkeep()
  } catch {
    return
  }
}
