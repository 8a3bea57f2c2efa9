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

/** The values every page is asked for with. */
type Asked = { readonly types: string | null; readonly last: number; readonly after: number; readonly rows: number }

export type EventReader = {
  /** In the order of `seq`, read page by page as the caller goes on; ends with what was there when the walk began. */
  events(filter: EventFilter): Generator<CadreEvent, void, undefined>
  /** The newest `delegation.ended` filed under this key. */
  findByKey(key: string): CadreEvent | undefined
  hasAgent(id: string): boolean
}

export function openEventReader(db: DatabaseSync, file: string): EventReader {
  const page = (where: string) => db.prepare(
    `SELECT ${EVENT_COLUMNS} FROM event WHERE ${where} seq > :after AND seq <= :last
     AND (:types IS NULL OR type IN (SELECT value FROM json_each(:types))) ORDER BY seq LIMIT :rows`)
  const ofAll = page('')
  const ofUnknown = page('agent = :agent AND')
  const ofSession = page('session = :session AND')
  const ofAgent = page('session = :session AND agent = :agent AND')
  const last = db.prepare('SELECT coalesce(max(seq), 0) AS last FROM event')
  const byKey = db.prepare(
    `SELECT ${EVENT_COLUMNS} FROM event INDEXED BY event_key WHERE type = 'delegation.ended' AND key = ? AND key IS NOT NULL
     ORDER BY seq DESC LIMIT 1`)
  const life = db.prepare(`SELECT session FROM event INDEXED BY event_agent WHERE agent = ? AND (${LIFE}) LIMIT 1`)

  function sessionOf(agent: string): string | undefined {
    const row = read(file, () => life.get(agent))
    return typeof row?.['session'] === 'string' ? row['session'] : undefined
  }

  /** One query for each way to ask: a condition that may be none costs at every event of a session. */
  function queryOf({ session, agent }: EventFilter): (asked: Asked) => Iterable<Row> {
    // An agent belongs to one session, and a session's events are indexed.
    const within = session ?? (agent === undefined ? undefined : sessionOf(agent))
    if (within === undefined) return agent === undefined ? (asked) => ofAll.iterate(asked) : (asked) => ofUnknown.iterate({ ...asked, agent })
    return agent === undefined ? (asked) => ofSession.iterate({ ...asked, session: within }) : (asked) => ofAgent.iterate({ ...asked, session: within, agent })
  }

  function* events(filter: EventFilter): Generator<CadreEvent, void, undefined> {
    const query = queryOf(filter)
    const newest = read(file, () => number(last.get() ?? {}, 'last'))
    const fixed = {
      types: filter.types ? JSON.stringify(filter.types) : null,
      last: Math.min(newest, (filter.beforeSeq ?? Infinity) - 1),
    }
    let after = filter.afterSeq ?? 0
    for (let left = filter.limit ?? Infinity; left > 0;) {
      const asked = { ...fixed, after, rows: Math.min(left, PAGE.rows) }
      const rows = read(file, () => takePage(query(asked)))
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
