import type { DatabaseSync } from 'node:sqlite'

import type { Usage } from '../core/contract.ts'
import { addUsage, NO_USAGE } from '../core/contract.ts'
import type { Cause, FinalStatus, LiveStatus } from '../core/status.ts'
import { read } from './read.ts'
import type { Row } from './row.ts'
import { number, numberOrNull, text, textOrNull, word } from './row.ts'
import { LIFE } from './schema.ts'

/**
 * An agent as the roster shows it (RST-01): its figures are those of all its runs, of which the root run of a resumed session may have several.
 * Times in ms since 1970, cost in USD.
 */
export type AgentRow = {
  readonly id: string
  readonly parent: string | null
  readonly depth: number
  readonly title: string
  readonly type: string
  readonly model: string
  /** `interrupted`: it has no end, and its session no longer runs. */
  readonly status: FinalStatus | LiveStatus | 'interrupted'
  readonly cause: Cause | null
  readonly turns: number
  readonly maxTurns: number | null
  readonly toolCalls: number
  readonly usage: Usage
  /** Of its runs that have ended: prices are settled with the result. */
  readonly costUsd: number
  readonly background: boolean
  /** Null while it waits in the queue. */
  readonly started: number | null
  readonly ended: number | null
}

const FINAL = { completed: true, partial: true, failed: true, killed: true, lost: true } as const satisfies Record<FinalStatus, true>
const CAUSES = {
  max_turns: true, budget: true, timeout: true, model: true, rate_limit: true, output_schema: true, program: true, crashed: true,
  setup: true, user: true, parent: true,
} as const satisfies Record<Cause, true>

/** Calls that only wait for other agents. */
const WAITING_TOOLS: readonly string[] = ['agent', 'agent_wait']

const life = (types: string, columns: string) => `SELECT seq, agent, parent, depth, time, type AS event, ${columns}
  FROM event INDEXED BY event_life WHERE (${LIFE}) AND session = ? AND type IN (${types}) ORDER BY seq`

export type RosterReader = {
  /** The agents of a session, oldest first. `running`: whether the session still has its process. */
  agents(session: string, running: boolean): readonly AgentRow[]
}

export function openRosterReader(db: DatabaseSync, file: string): RosterReader {
  const begun = db.prepare(life(`'delegation.queued', 'delegation.started'`, `
    data ->> '$.title' AS title, data ->> '$.agentType' AS type, data ->> '$.model' AS model,
    data ->> '$.grant.limits.maxTurns' AS maxTurns, data ->> '$.background' AS background, data ->> '$.callId' AS callId`))
  const ended = db.prepare(life(`'delegation.ended'`, `
    data ->> '$.result.title' AS title, data ->> '$.result.model' AS model, data ->> '$.result.status' AS status,
    data ->> '$.result.cause' AS cause, data ->> '$.result.turns' AS turns, data ->> '$.result.toolCalls' AS toolCalls, costUsd,
    data ->> '$.result.usage.input' AS input, data ->> '$.result.usage.output' AS output,
    data ->> '$.result.usage.cacheRead' AS cacheRead, data ->> '$.result.usage.cacheWrite' AS cacheWrite`))
  /** `lastCalls` is of the row with the greatest `seq`. */
  const spent = db.prepare(`SELECT agent, max(seq) AS seq, calls AS lastCalls, count(*) AS turns, sum(calls) AS toolCalls,
    sum(input) AS input, sum(output) AS output, sum(cacheRead) AS cacheRead, sum(cacheWrite) AS cacheWrite
    FROM event INDEXED BY event_turn WHERE type = 'turn.ended' AND session = ? AND seq > ? GROUP BY agent`)
  const steps = db.prepare(`SELECT type, data ->> '$.call.id' AS id, data ->> '$.call.name' AS name, data ->> '$.outcome.callId' AS answered
    FROM event WHERE session = ? AND agent = ? AND seq > ? AND type IN ('turn.started', 'tool.started', 'tool.ended') ORDER BY seq`)

  /** An agent's replies since an event, by agent. */
  const repliesSince = (session: string, seq: number): ReadonlyMap<string, Row> =>
    new Map(spent.all(session, seq).map((row) => [text(row, 'agent'), row]))

  /**
   * Whether an agent with children that have not ended has nothing to do but wait for them: all its open calls do (the tools that wait, and any
   * call such a child answers), or its last reply had no calls, and some of them are in the background (DEL-04).
   */
  function isWaiting(session: string, agent: string, reply: Row, { answering, awaited }: Others): boolean {
    const open = new Map<string, string>()
    for (const row of steps.all(session, agent, number(reply, 'seq'))) {
      const type = text(row, 'type')
      if (type === 'turn.started') return false
      if (type === 'tool.started') open.set(text(row, 'id'), text(row, 'name'))
      else open.delete(text(row, 'answered'))
    }
    if (number(reply, 'lastCalls') === 0) return awaited.has(agent)
    return open.size > 0 && [...open].every(([id, name]) => WAITING_TOOLS.includes(name) || answering.has(id))
  }

  function lives(session: string): readonly Life[] {
    // In the order of an agent's first event: a Map keeps the place of a key that is set again.
    const all = new Map<string, Life>()
    for (const row of [...begun.all(session), ...ended.all(session)].toSorted((a, b) => number(a, 'seq') - number(b, 'seq'))) {
      const id = text(row, 'agent')
      const before = all.get(id)
      if (text(row, 'event') !== 'delegation.ended') all.set(id, begunAgain(row, before))
      else if (before?.row.ended === null) all.set(id, { ...before, row: { ...before.row, ...endedColumns(row, before.row) } })
    }
    return [...all.values()]
  }

  function agents(session: string, running: boolean): readonly AgentRow[] {
    const all = lives(session)
    const live = all.filter(({ row }) => row.ended === null)
    if (live.length === 0) return all.map(({ row }) => row)
    const others: Others = {
      answering: new Set(live.flatMap(({ callId }) => callId ?? [])),
      parents: new Set(live.map(({ row }) => row.parent)),
      awaited: new Set(live.filter(({ row }) => row.background).map(({ row }) => row.parent)),
    }
    const replies = repliesSince(session, 0)
    return all.map(({ row, since }) => {
      if (row.ended !== null) return row
      const own = since === 0 ? replies.get(row.id) : repliesSince(session, since).get(row.id)
      const waits = own && row.status === 'running' && others.parents.has(row.id) && isWaiting(session, row.id, own, others)
      return {
        ...row,
        status: running ? (waits ? 'waiting' : row.status) : 'interrupted',
        ...(own && { turns: row.turns + number(own, 'turns'), toolCalls: row.toolCalls + number(own, 'toolCalls'), usage: addUsage(row.usage, usageOf(own)) }),
      }
    })
  }

  return { agents: (session, running) => read(file, () => agents(session, running)) }
}

/** `since`: the event with which it was started again after an end; 0 for its first run. Its row has the figures of the runs that ended. */
type Life = { readonly row: AgentRow; readonly since: number; readonly callId: string | null }

/** What the live agents of a session are to each other: the calls they answer, their parents, and the parents of those in the background. */
type Others = { readonly answering: ReadonlySet<string>; readonly parents: ReadonlySet<string | null>; readonly awaited: ReadonlySet<string | null> }

/** Queued, started, started again when its session is resumed; or started again after its end. */
function begunAgain(row: Row, before: Life | undefined): Life {
  const isQueued = text(row, 'event') === 'delegation.queued'
  const status = isQueued ? 'queued' : 'running'
  const begun = { ...begunRow(row), status, started: isQueued ? null : number(row, 'time') } as const
  const callId = textOrNull(row, 'callId')
  if (!before) return { row: begun, since: 0, callId }
  const { started, ended, turns, toolCalls, usage, costUsd } = before.row
  return {
    row: { ...begun, started: started ?? begun.started, turns, toolCalls, usage, costUsd },
    since: ended === null ? before.since : number(row, 'seq'),
    callId,
  }
}

const begunRow = (row: Row): Omit<AgentRow, 'status' | 'started'> => ({
  id: text(row, 'agent'),
  parent: textOrNull(row, 'parent'),
  depth: number(row, 'depth'),
  title: text(row, 'title'),
  type: text(row, 'type'),
  model: text(row, 'model'),
  cause: null,
  turns: 0,
  maxTurns: numberOrNull(row, 'maxTurns'),
  toolCalls: 0,
  usage: NO_USAGE,
  costUsd: 0,
  background: number(row, 'background') === 1,
  ended: null,
})

const endedColumns = (row: Row, before: AgentRow) => ({
  title: text(row, 'title'),
  model: text(row, 'model'),
  status: word(row, 'status', FINAL),
  cause: row['cause'] === null ? null : word(row, 'cause', CAUSES),
  turns: before.turns + number(row, 'turns'),
  toolCalls: before.toolCalls + number(row, 'toolCalls'),
  usage: addUsage(before.usage, usageOf(row)),
  costUsd: before.costUsd + number(row, 'costUsd'),
  ended: number(row, 'time'),
})

const usageOf = (row: Row): Usage => ({
  input: number(row, 'input'),
  output: number(row, 'output'),
  cacheRead: number(row, 'cacheRead'),
  cacheWrite: number(row, 'cacheWrite'),
})
