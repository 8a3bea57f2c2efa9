import { resolve } from 'node:path'

import type { Message } from '../core/contract.ts'
import type { CadreEvent, DelegationStarted, EventSubject, NewEvent } from '../core/events.ts'
import type { CallRow, ChildRow, Restored } from '../core/restored.ts'
import type { AgentResult } from '../core/result.ts'
import { openCallReader } from './calls.ts'
import { openChildReader } from './children.ts'
import { encodeKey } from './encode.ts'
import type { EventFilter } from './events.ts'
import { openEventReader } from './events.ts'
import { journalClosed, journalFault } from './fault.ts'
import { openHistory } from './history.ts'
import { openLifeReader } from './lives.ts'
import { prune } from './prune.ts'
import { liveRedactor } from './redact.ts'
import { restored } from './restore.ts'
import type { AgentRow } from './roster.ts'
import { openRosterReader } from './roster.ts'
import { openDatabase } from './schema.ts'
import type { SessionRow } from './sessions.ts'
import { openSessionReader } from './sessions.ts'
import { traceText } from './trace.ts'
import { transcriptOf } from './transcript.ts'
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
   * (JRN-02). All of one call are in one transaction, in their order. Rejects with JOURNAL when nothing of the group was written, with
   * INVARIANT for an event that must not be journaled, such as a `delta`, and with JOURNAL `Session <id> was taken over by process <pid>.` once
   * another process resumed the session (JRN-07). Secrets are gone from what it resolves with, too (JRN-08).
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
  /** The ids of so many sessions, that with the newest event first: cheap where `sessions` reads much. */
  recentSessions(count: number): readonly string[]
  /** Whether a session has ended since it last started. */
  hasEnded(session: string): boolean
  /** The agents of a session, oldest first. */
  agents(session: string): readonly AgentRow[]
  /**
   * An agent's conversation, as its model sees it now: what it began with and summaries in place of turns included. `full`: all its turns,
   * summarized ones too. Empty for an agent that never started.
   */
  transcript(agent: string, options?: { readonly full?: boolean }): readonly Message[]
  /** Where an agent's run stands, from which it goes on in another process (JRN-03, 05). Undefined for an agent nobody knows. */
  restore(agent: string): Restored | undefined
  /** What an agent was started with, the newest time. Undefined for an agent nobody knows. */
  started(agent: string): DelegationStarted | undefined
  /** Whom events of this agent are about. Undefined for an agent nobody knows. */
  subject(agent: string): EventSubject | undefined
  /** What an agent came to; undefined while it has not ended since it last started. */
  result(agent: string): AgentResult | undefined
  /** The agents this one started, in the order it asked for them (DEL-11). */
  children(parent: string): readonly ChildRow[]
  /** The outbox (DEL-06): background children of this agent that have ended and whose result did not reach it, in order of their ends. */
  undelivered(parent: string): readonly string[]
  /** The last calls of an agent, oldest first (STR-07). */
  recentCalls(agent: string, count: number): readonly CallRow[]
  /** The agents of a session that have no end, as a resume finds them (JRN-05): parents before their children. */
  interrupted(session: string): readonly AgentRow[]
  /**
   * Takes the lease of a session, to resume it (JRN-07). Throws USAGE `Session <id> is in use by process <pid>.` while a live process, this
   * one included, runs it.
   */
  claim(session: string): void
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
  const history = openHistory(reader)
  const sessions = openSessionReader(db, file)
  const roster = openRosterReader(db, file)
  const lives = openLifeReader(db, file)
  const children = openChildReader(db, file)
  const calls = openCallReader(db, file)
  const open = (): void => {
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
    recentSessions(count) {
      open()
      return sessions.recentSessions(count)
    },
    hasEnded(session) {
      open()
      return sessions.hasEnded(session)
    },
    agents(session) {
      open()
      return roster.agents(session, sessions.isRunning(session))
    },
    transcript(agent, choice) {
      open()
      return transcriptOf(history.conversation(agent, choice))
    },
    restore(agent) {
      open()
      return restored(history, agent)
    },
    started(agent) {
      open()
      return lives.started(agent)
    },
    subject(agent) {
      open()
      return lives.subject(agent)
    },
    result(agent) {
      open()
      return lives.result(agent)
    },
    children(parent) {
      open()
      return children.children(parent)
    },
    undelivered(parent) {
      open()
      return children.undelivered(parent)
    },
    recentCalls(agent, count) {
      open()
      return calls(agent, count)
    },
    interrupted(session) {
      open()
      return roster.agents(session, true).filter(({ ended }) => ended === null)
    },
    claim: (session) => writer.claim(session),
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
