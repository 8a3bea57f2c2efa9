import type { DatabaseSync } from 'node:sqlite'

import { isHeld } from './lease.ts'
import { read } from './read.ts'
import type { Row } from './row.ts'
import { number, numberOrNull, text, textOrNull, word } from './row.ts'
import { LIFE } from './schema.ts'

/** A session as `sessions list` shows it. Times in ms since 1970, cost in USD. */
export type SessionRow = {
  readonly id: string
  readonly kind: 'run' | 'sweep'
  readonly title: string
  readonly cwd: string
  readonly root: string
  readonly started: number
  /** Null while it runs, and for one that was interrupted. */
  readonly ended: number | null
  /** `running`; `interrupted` when it has no end and its process is gone; else how it ended. */
  readonly status: string
  /** Agents that were queued or started, the root run included. */
  readonly agents: number
  /** Replies of all its agents. */
  readonly turns: number
  /** Of all replies: input, output, cache read and cache write. */
  readonly tokens: number
  /** Of all agents that have ended. */
  readonly costUsd: number
}

const KINDS = { run: true, sweep: true } as const

export type SessionReader = {
  /** Newest first; without `all` only sessions that no other session started (JRN-09). */
  sessions(options?: { readonly all?: boolean }): readonly SessionRow[]
  /** The session with this id, or the only one whose id begins so. */
  findSession(prefixOrId: string): string | undefined
  /** So many ids, that with the newest event first; costs as much as there are sessions, whatever is in them. */
  recentSessions(count: number): readonly string[]
  /** Whether its newest start has an end. */
  hasEnded(session: string): boolean
  /** Whether the session has not ended and its owner is alive. */
  isRunning(session: string): boolean
}

/**
 * A resumed session has several starts; it has ended when its newest end is newer than its newest start. Figures are summed over the
 * covering indexes, so a list reads no event but the first and the last of each session.
 */
const LIST = `
  WITH mark AS MATERIALIZED (
    SELECT session, min(seq) FILTER (WHERE type = 'session.started') AS first, max(seq) FILTER (WHERE type = 'session.started') AS start,
      max(seq) FILTER (WHERE type = 'session.ended') AS end,
      count(DISTINCT agent) FILTER (WHERE type IN ('delegation.queued', 'delegation.started')) AS agents,
      sum(costUsd) FILTER (WHERE type = 'delegation.ended') AS cost
    FROM event INDEXED BY event_life WHERE (${LIFE}) GROUP BY session
  ), spent AS MATERIALIZED (
    SELECT session, count(*) AS turns, sum(input + output + cacheRead + cacheWrite) AS tokens
    FROM event INDEXED BY event_turn WHERE type = 'turn.ended' GROUP BY session
  )
  SELECT s.seq, mark.session AS id, s.data ->> '$.kind' AS kind, s.data ->> '$.title' AS title, s.data ->> '$.cwd' AS cwd,
    s.data ->> '$.root' AS root, s.time AS started, e.time AS ended, e.data ->> '$.status' AS status, s.parent,
    agents, coalesce(cost, 0.0) AS cost, coalesce(turns, 0) AS turns, coalesce(tokens, 0) AS tokens, lease.pid, lease.beat, lease.owner
  FROM mark JOIN event s ON s.seq = mark.first LEFT JOIN event e ON e.seq = mark.end AND mark.end > mark.start
    LEFT JOIN spent ON spent.session = mark.session LEFT JOIN lease ON lease.session = mark.session
  ORDER BY s.seq DESC`

/** Goes from session to session, not from event to event. */
const RECENT = `
  WITH RECURSIVE each (session) AS (
    SELECT min(session) FROM event
    UNION ALL SELECT (SELECT min(event.session) FROM event WHERE event.session > each.session) FROM each WHERE each.session IS NOT NULL
  )
  SELECT session FROM each WHERE session IS NOT NULL ORDER BY (SELECT max(seq) FROM event WHERE event.session = each.session) DESC LIMIT ?`

export function openSessionReader(db: DatabaseSync, file: string): SessionReader {
  const list = db.prepare(LIST)
  const find = db.prepare(
    `SELECT DISTINCT session FROM event INDEXED BY event_life WHERE (${LIFE}) AND type = 'session.started'
     AND session >= :prefix AND session < :prefix || char(0x10FFFF) ORDER BY session LIMIT 2`)
  const recent = db.prepare(RECENT)
  const mark = db.prepare(`SELECT type FROM event INDEXED BY event_life WHERE (${LIFE}) AND session = ? AND type IN ('session.started', 'session.ended')
    ORDER BY seq DESC LIMIT 1`)
  const lease = db.prepare('SELECT pid, beat, owner FROM lease WHERE session = ?')
  return {
    sessions: ({ all = false } = {}) =>
      read(file, () => list.all()).filter((row) => all || textOrNull(row, 'parent') === null).map(sessionRow),
    findSession(prefix) {
      if (prefix === '') return undefined
      const [first, second] = read(file, () => find.all({ prefix }))
      if (!first || (second && text(first, 'session') !== prefix)) return undefined
      return text(first, 'session')
    },
    recentSessions: (count) => read(file, () => recent.all(count)).map((row) => text(row, 'session')),
    hasEnded: (session) => read(file, () => mark.get(session))?.['type'] === 'session.ended',
    // A session's lease goes with its end, in one transaction.
    isRunning: (session) => isHeld(read(file, () => lease.get(session))),
  }
}

const sessionRow = (row: Row): SessionRow => ({
  id: text(row, 'id'),
  kind: word(row, 'kind', KINDS),
  title: text(row, 'title'),
  cwd: text(row, 'cwd'),
  root: text(row, 'root'),
  started: number(row, 'started'),
  ended: numberOrNull(row, 'ended'),
  status: statusOf(row),
  agents: number(row, 'agents'),
  turns: number(row, 'turns'),
  tokens: number(row, 'tokens'),
  costUsd: number(row, 'cost'),
})

const statusOf = (row: Row): string => textOrNull(row, 'status') ?? (isHeld(row) ? 'running' : 'interrupted')
