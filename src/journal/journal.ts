import { resolve } from 'node:path'

import type { Message } from '../core/contract.ts'
import type { CadreEvent, NewEvent } from '../core/events.ts'
import { encodeKey } from './encode.ts'
import type { EventFilter } from './events.ts'
import { openEventReader } from './events.ts'
import { journalClosed, journalFault } from './fault.ts'
import { prune } from './prune.ts'
import { liveRedactor } from './redact.ts'
import type { AgentRow } from './roster.ts'
import { openRosterReader } from './roster.ts'
import { openDatabase } from './schema.ts'
import type { SessionRow } from './sessions.ts'
import { openSessionReader } from './sessions.ts'
import { traceText } from './trace.ts'
import { TRANSCRIPT_TYPES, transcriptOf } from './transcript.ts'
import { openWriter } from './writer.ts'

export type { EventFilter } from './events.ts'
export { journalFile } from './location.ts'
export type { AgentRow } from './roster.ts'
export type { SessionRow } from './sessions.ts'

/**
 * The journal of one root: an append-only table of events in one SQLite file (JRN-01), which several processes may write at once;
 * everything else here is a view of that table. Every method throws or rejects with a CadreError JOURNAL that names the file and a remedy.
 */
export type Journal = {
  readonly file: string
  /**
   * Queues events; resolves with them as journaled once the transaction that holds them is committed, so that they outlive this process
   * (JRN-02). All of one call are in one transaction, in their order. Rejects with JOURNAL when nothing of the group was written, and with
   * INVARIANT for an event that must not be journaled, such as a `delta`. Secrets are gone from what it resolves with, too (JRN-08).
   */
  append(events: readonly NewEvent[]): Promise<readonly CadreEvent[]>
  /** An event without secrets, for what is only shown and never journaled (JRN-08). */
  clean<Event extends NewEvent>(event: Event): Event
  /** Events that fit, in order; read page by page as the caller walks, up to what was there when the walk began. */
  events(filter?: EventFilter): Iterable<CadreEvent>
  /** The newest `delegation.ended` filed under this key. */
  findByKey(key: string): CadreEvent | undefined
  /** Where the time of these sessions went, as text for a browser's tracing view (chrome://tracing, ui.perfetto.dev), piece by piece. */
  trace(sessions: readonly string[]): Iterable<string>
  /** Whether an agent of this id was ever queued or started here. */
  hasAgent(id: string): boolean
  /** Newest first; child sessions only with `all` (JRN-09). */
  sessions(options?: { readonly all?: boolean }): readonly SessionRow[]
  /** The agents of a session, oldest first. */
  agents(session: string): readonly AgentRow[]
  /** An agent's conversation, as its model saw it. Empty for an agent that never started. */
  transcript(agent: string): readonly Message[]
  /** The session with this id, or the only one whose id begins so. */
  findSession(prefixOrId: string): string | undefined
  /** JRN-09: deletes sessions that ended more than so many days ago and left no worktree; returns how many. */
  prune(keepDays: number): number
  /** Writes what is queued and closes the file. */
  close(): Promise<void>
}

/**
 * Opens or makes a journal. `sync`: `normal` outlives the death of the process, `full` also that of the machine. Values in `redact` of at
 * least 8 characters never reach the disk (JRN-08).
 */
export function openJournal(options: {
  readonly file: string
  readonly sync: 'normal' | 'full'
  /** Asked for at each write when it is a function: keys may come later. */
  readonly redact?: readonly string[] | (() => readonly string[])
}): Journal {
  const file = resolve(options.file)
  const redact = liveRedactor(options.redact ?? [])
  const db = openDatabase(file, options.sync)
  const writer = openWriter(db, file, redact)
  const reader = openEventReader(db, file)
  const sessions = openSessionReader(db, file)
  const roster = openRosterReader(db, file)
  const open = () => {
    if (!db.isOpen) throw journalClosed(file)
  }
  return {
    file,
    append: (events) => writer.append(events),
    clean(event) {
      const json = JSON.stringify(event)
      const clean = redact(json)
      // Only texts within it differ: it has the shape it had.
      return clean === json ? event : (JSON.parse(clean) as typeof event)
    },
    * events(filter = {}) {
      open()
      yield* reader.events(filter)
    },
    trace(ids) {
      open()
      return traceText(ids.map((session) => reader.events({ session })))
    },
    findByKey(key) {
      open()
      return reader.findByKey(encodeKey(key, redact))
    },
    hasAgent(id) {
      open()
      return reader.hasAgent(id)
    },
    sessions(choice) {
      open()
      return sessions.sessions(choice)
    },
    agents(session) {
      open()
      return roster.agents(session, sessions.isRunning(session))
    },
    transcript(agent) {
      open()
      return transcriptOf(reader.events({ agent, types: TRANSCRIPT_TYPES }))
    },
    findSession(prefixOrId) {
      open()
      return sessions.findSession(prefixOrId)
    },
    prune(keepDays) {
      open()
      try {
        return prune(db, keepDays)
      } catch (error) {
        throw journalFault(file, 'written', error)
      }
    },
    close: () => writer.close(),
  }
}
