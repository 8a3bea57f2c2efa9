import type { DatabaseSync } from 'node:sqlite'

import type { Usage } from '../core/contract.ts'
import { NO_USAGE } from '../core/contract.ts'
import type { Cause, FinalStatus, LiveStatus } from '../core/status.ts'
import { read } from './read.ts'
import type { Row } from './row.ts'
import { number, numberOrNull, text, textOrNull, word } from './row.ts'
import { LIFE } from './schema.ts'

/** An agent as the roster shows it (RST-01). Times in ms since 1970, cost in USD. */
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
  /** 0 until it has ended: prices are settled with the result. */
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
  const spent = db.prepare(`SELECT agent, max(seq) AS seq, count(*) AS turns, sum(calls) AS toolCalls,
    sum(input) AS input, sum(output) AS output, sum(cacheRead) AS cacheRead, sum(cacheWrite) AS cacheWrite
    FROM event INDEXED BY event_turn WHERE type = 'turn.ended' AND session = ? GROUP BY agent`)
  const calls = db.prepare(`SELECT type, data ->> '$.call.id' AS id, data ->> '$.call.name' AS name, data ->> '$.outcome.callId' AS answered
    FROM event WHERE session = ? AND agent = ? AND seq > ? AND type IN ('tool.started', 'tool.ended') ORDER BY seq`)

  /** Whether all an agent's open calls wait for agents: the tools that do, and any call a running child answers. */
  function isWaiting(session: string, agent: string, since: number, answering: ReadonlySet<string>): boolean {
    const open = new Map<string, string>()
    for (const row of calls.all(session, agent, since)) {
      if (text(row, 'type') === 'tool.started') open.set(text(row, 'id'), text(row, 'name'))
      else open.delete(text(row, 'answered'))
    }
    return open.size > 0 && [...open].every(([id, name]) => WAITING_TOOLS.includes(name) || answering.has(id))
  }

  function agents(session: string, running: boolean): readonly AgentRow[] {
    // In the order of an agent's first event: a Map keeps the place of a key that is set again.
    const rows = new Map<string, AgentRow>()
    const callIds = new Map<string, string>()
    for (const row of begun.all(session)) {
      const id = text(row, 'agent')
      const before = rows.get(id)
      const started = text(row, 'event') === 'delegation.started' ? number(row, 'time') : null
      rows.set(id, { ...begunRow(row), started: before?.started ?? started })
      const callId = textOrNull(row, 'callId')
      if (callId !== null) callIds.set(id, callId)
    }
    for (const row of ended.all(session)) {
      const before = rows.get(text(row, 'agent'))
      if (before?.ended === null) rows.set(before.id, { ...before, ...endedColumns(row) })
    }
    const live = [...rows.values()].filter((row) => row.ended === null)
    if (live.length === 0) return [...rows.values()]
    const answering = new Set(live.flatMap(({ id }) => callIds.get(id) ?? []))
    const figures = new Map(spent.all(session).map((row) => [text(row, 'agent'), row]))
    for (const row of live) {
      const own = figures.get(row.id)
      const waits = row.status === 'running' && isWaiting(session, row.id, own ? number(own, 'seq') : 0, answering)
      rows.set(row.id, {
        ...row,
        status: running ? (waits ? 'waiting' : row.status) : 'interrupted',
        ...(own && { turns: number(own, 'turns'), toolCalls: number(own, 'toolCalls'), usage: usageOf(own) }),
      })
    }
    return [...rows.values()]
  }

  return { agents: (session, running) => read(file, () => agents(session, running)) }
}

const begunRow = (row: Row): AgentRow => ({
  id: text(row, 'agent'),
  parent: textOrNull(row, 'parent'),
  depth: number(row, 'depth'),
  title: text(row, 'title'),
  type: text(row, 'type'),
  model: text(row, 'model'),
  status: text(row, 'event') === 'delegation.queued' ? 'queued' : 'running',
  cause: null,
  turns: 0,
  maxTurns: numberOrNull(row, 'maxTurns'),
  toolCalls: 0,
  usage: NO_USAGE,
  costUsd: 0,
  background: number(row, 'background') === 1,
  started: null,
  ended: null,
})

const endedColumns = (row: Row) => ({
  title: text(row, 'title'),
  model: text(row, 'model'),
  status: word(row, 'status', FINAL),
  cause: row['cause'] === null ? null : word(row, 'cause', CAUSES),
  turns: number(row, 'turns'),
  toolCalls: number(row, 'toolCalls'),
  usage: usageOf(row),
  costUsd: number(row, 'costUsd'),
  ended: number(row, 'time'),
})

const usageOf = (row: Row): Usage => ({
  input: number(row, 'input'),
  output: number(row, 'output'),
  cacheRead: number(row, 'cacheRead'),
  cacheWrite: number(row, 'cacheWrite'),
})
