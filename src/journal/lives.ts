import type { DatabaseSync } from 'node:sqlite'

import type { CadreEvent, DelegationStarted, EventSubject } from '../core/events.ts'
import type { AgentResult } from '../core/result.ts'
import { read } from './read.ts'
import type { Row } from './row.ts'
import { decode, EVENT_COLUMNS } from './row.ts'
import { LIFE } from './schema.ts'

/** What an agent was started with and came to, by its id. */
export type LifeReader = {
  started(agent: string): DelegationStarted | undefined
  subject(agent: string): EventSubject | undefined
  /** While it has not ended since it last started: undefined. The first end counts (KIN-09). */
  result(agent: string): AgentResult | undefined
}

export function openLifeReader(db: DatabaseSync, file: string): LifeReader {
  const of = (rest: string) => db.prepare(`SELECT ${EVENT_COLUMNS} FROM event INDEXED BY event_agent WHERE agent = ? AND (${LIFE}) AND ${rest} LIMIT 1`)
  const newestStart = of(`type IN ('delegation.queued', 'delegation.started') ORDER BY seq DESC`)
  const firstEnd = of(`type = 'delegation.ended' AND seq > ? ORDER BY seq`)
  const event = (query: () => Row | undefined): CadreEvent | undefined => {
    const row = read(file, query)
    return row && decode(row)
  }
  const start = (agent: string) => event(() => newestStart.get(agent))

  return {
    started(agent) {
      const found = start(agent)
      if (found?.type !== 'delegation.started' && found?.type !== 'delegation.queued') return undefined
      // An earlier Cadre wrote grants without these.
      return { ...found.data, grant: { ...found.data.grant, behalf: found.data.grant.behalf ?? [], confinesShell: found.data.grant.confinesShell ?? false } }
    },
    subject(agent) {
      const found = start(agent)
      return found && { session: found.session, root: found.root, agent: found.agent, parent: found.parent, depth: found.depth }
    },
    result(agent) {
      const begun = start(agent)
      const found = begun && event(() => firstEnd.get(agent, begun.seq))
      return found?.type === 'delegation.ended' ? found.data.result : undefined
    },
  }
}
