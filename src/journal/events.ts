import type { DatabaseSync } from 'node:sqlite'

import type { CadreEvent, EventType } from '../core/events.ts'
import { read } from './read.ts'
import type { Row } from './row.ts'
import { decode, EVENT_COLUMNS, number, text } from './row.ts'
import { LIFE } from './schema.ts'

/** Which events: all that fit every part given. `afterSeq` and `beforeSeq` are exclusive; `limit` counts events. */
export type EventFilter = {
  readonly session?: string
  readonly agent?: string
  readonly types?: readonly EventType[]
  readonly afterSeq?: number
  readonly beforeSeq?: number
  readonly limit?: number
}

/** What is held at once while a caller walks through events: so many, and little more than so many characters of their data. */
const PAGE = { rows: 256, chars: 1_000_000 } as const

export type EventReader = {
  /** In the order of `seq`, read page by page as the caller goes on; ends with what was there when the walk began. */
  events(filter: EventFilter): Generator<CadreEvent, void, undefined>
  /** The newest `delegation.ended` filed under this key. */
  findByKey(key: string): CadreEvent | undefined
  hasAgent(id: string): boolean
}

export function openEventReader(db: DatabaseSync, file: string): EventReader {
  const page = (where: string) => db.prepare(
    `SELECT ${EVENT_COLUMNS} FROM event WHERE ${where} seq > :after AND seq <= :last AND (:agent IS NULL OR agent = :agent)
     AND (:types IS NULL OR type IN (SELECT value FROM json_each(:types))) ORDER BY seq LIMIT :rows`)
  const ofAll = page('')
  const ofSession = page('session = :session AND')
  const last = db.prepare('SELECT coalesce(max(seq), 0) AS last FROM event')
  const byKey = db.prepare(
    `SELECT ${EVENT_COLUMNS} FROM event INDEXED BY event_key WHERE type = 'delegation.ended' AND key = ? AND key IS NOT NULL
     ORDER BY seq DESC LIMIT 1`)
  const life = db.prepare(`SELECT session FROM event INDEXED BY event_agent WHERE agent = ? AND (${LIFE}) LIMIT 1`)

  function sessionOf(agent: string): string | undefined {
    const row = read(file, () => life.get(agent))
    return typeof row?.['session'] === 'string' ? row['session'] : undefined
  }

  function* events(filter: EventFilter): Generator<CadreEvent, void, undefined> {
    // An agent belongs to one session, and a session's events are indexed.
    const session = filter.session ?? (filter.agent === undefined ? undefined : sessionOf(filter.agent))
    const fixed = {
      agent: filter.agent ?? null,
      types: filter.types ? JSON.stringify(filter.types) : null,
      last: Math.min(read(file, () => number(last.get() ?? {}, 'last')), (filter.beforeSeq ?? Infinity) - 1),
    }
    let after = filter.afterSeq ?? 0
    for (let left = filter.limit ?? Infinity; left > 0;) {
      const asked = { ...fixed, after, rows: Math.min(left, PAGE.rows) }
      const rows = read(file, () => takePage(session === undefined ? ofAll.iterate(asked) : ofSession.iterate({ ...asked, session })))
      for (const row of rows) yield decode(row)
      const end = rows.at(-1)
      if (!end) return
      after = number(end, 'seq')
      left -= rows.length
    }
  }

  return {
    events,
    findByKey(key) {
      const row = read(file, () => byKey.get(key))
      return row && decode(row)
    },
    hasAgent: (id) => sessionOf(id) !== undefined,
  }
}

/** No query stays open between pages: an open one keeps the log from being moved into the file. */
function takePage(query: Iterable<Row>): readonly Row[] {
  const rows: Row[] = []
  let chars = 0
  for (const row of query) {
    rows.push(row)
    chars += text(row, 'data').length
    if (chars >= PAGE.chars) break
  }
  return rows
}
