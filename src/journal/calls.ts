import type { DatabaseSync } from 'node:sqlite'

import type { CadreEvent } from '../core/events.ts'
import type { CallRow } from '../core/restored.ts'
import { read } from './read.ts'
import { decode, EVENT_COLUMNS, number } from './row.ts'
import { LIFE } from './schema.ts'

/** Events read at once, newest first: a call has two. */
const PAGE_ROWS = 64

/** The last `count` calls of an agent, oldest first; none for an agent nobody knows. */
export type CallReader = (agent: string, count: number) => readonly CallRow[]

export function openCallReader(db: DatabaseSync, file: string): CallReader {
  const life = db.prepare(`SELECT session, min(seq) AS first FROM event INDEXED BY event_agent WHERE agent = ? AND (${LIFE}) GROUP BY session`)
  const page = db.prepare(`SELECT ${EVENT_COLUMNS} FROM event INDEXED BY event_session
    WHERE session = ? AND seq > ? AND seq < ? AND agent = ? AND type IN ('tool.started', 'tool.ended') ORDER BY seq DESC LIMIT ${PAGE_ROWS}`)

  function* backwards(agent: string): Generator<CadreEvent, void, undefined> {
    const own = read(file, () => life.get(agent))
    if (!own) return
    for (let before = Number.MAX_SAFE_INTEGER; ;) {
      const rows = read(file, () => page.all(own['session'] ?? null, number(own, 'first'), before, agent))
      for (const row of rows) yield decode(row)
      const last = rows.at(-1)
      if (!last || rows.length < PAGE_ROWS) return
      before = number(last, 'seq')
    }
  }

  return (agent, count) => {
    const calls = new Map<string, CallRow>()
    const ends = new Map<string, Pick<CallRow, 'ended' | 'outcome'>>()
    for (const { type, data, time } of backwards(agent)) {
      if (calls.size >= count) break
      if (type === 'tool.ended') {
        const id = `${data.turn} ${data.outcome.callId}`
        // Run again after a crash, its last outcome is the one that counts.
        if (!ends.has(id)) ends.set(id, { ended: time, outcome: data.outcome })
      } else if (type === 'tool.started') {
        const id = `${data.turn} ${data.call.id}`
        if (!calls.has(id)) calls.set(id, { call: data.call, started: time, ...(ends.get(id) ?? { ended: null, outcome: null }) })
      }
    }
    return [...calls.values()].toReversed()
  }
}
