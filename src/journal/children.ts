import type { DatabaseSync } from 'node:sqlite'

import type { ChildRow } from '../core/restored.ts'
import type { Facts } from './facts.ts'
import { firstLine } from './first-line.ts'
import { read } from './read.ts'
import type { Row } from './row.ts'
import { number, numberOrNull, text } from './row.ts'

export type ChildReader = {
  /** The agents this one started, in the order it asked for them. */
  children(parent: string): readonly ChildRow[]
  /** Background children of this agent that have ended and whose result did not reach it, in order of their ends (DEL-06). */
  undelivered(parent: string): readonly string[]
}

/** A child as its own events have it; `seq` is where among its parent's steps it began, and ended. */
type Child = Omit<ChildRow, 'end' | 'handed'> & { readonly seq: number; readonly end: (Omit<NonNullable<ChildRow['end']>, 'turnsSince'> & { readonly seq: number }) | null }

/** When an agent's model was shown what had come: the turn that began, or null where its run ended. */
type Step = { readonly seq: number; readonly turn: number | null }

/**
 * A parent asks before each of its turns: all of this comes from indexes, and grows with its children and with the turns of its session, not with
 * what they read and wrote.
 */
export function openChildReader(db: DatabaseSync, file: string): ChildReader {
  const lives = db.prepare(`SELECT seq, type AS event, agent, time, facts
    FROM event INDEXED BY event_child WHERE parent = ? AND facts IS NOT NULL ORDER BY seq`)
  const hands = db.prepare('SELECT hands FROM event INDEXED BY event_hands WHERE agent = ? AND hands IS NOT NULL')
  const sessionAt = db.prepare('SELECT session FROM event WHERE seq = ?')
  const replies = db.prepare(`SELECT agent, count(*) AS turns FROM event INDEXED BY event_turn
    WHERE type = 'turn.ended' AND session = ? AND seq > ? GROUP BY agent`)
  const steps = db.prepare(`SELECT seq, data ->> '$.turn' AS turn FROM event INDEXED BY event_session
    WHERE session = ? AND seq > ? AND agent = ? AND type IN ('turn.started', 'delegation.ended') ORDER BY seq`)
  const answers = db.prepare(`SELECT data ->> '$.outcome.callId' AS callId FROM event INDEXED BY event_session
    WHERE session = ? AND seq > ? AND agent = ? AND type = 'tool.ended'`)

  function childrenOf(parent: string): readonly Child[] {
    // A Map keeps the place of a key that is set again.
    const children = new Map<string, Child>()
    for (const row of lives.all(parent)) {
      const id = text(row, 'agent')
      const before = children.get(id)
      if (text(row, 'event') === 'delegation.ended') {
        if (before?.end === null) children.set(id, { ...before, ...endOfChild(row) })
        continue
      }
      const started = text(row, 'event') === 'delegation.started' ? number(row, 'time') : null
      // One that goes on after an interruption may do so in the background.
      const now = begunChild(row)
      children.set(id, { ...(before ?? now), background: now.background, started: before?.started ?? started })
    }
    return [...children.values()]
  }

  /** Whose results this agent was told of, or was handed by a call. */
  const handedTo = (parent: string): ReadonlySet<string> =>
    new Set(hands.all(parent).flatMap((row) => JSON.parse(text(row, 'hands')) as string[]))

  /** The calls that foreground children among these answered. Most are known from the next step: a turn begins when all calls are answered. */
  function answeredBy(children: readonly Child[], parent: string, session: string, after: readonly Step[]): ReadonlySet<string> {
    const ended = children.filter(({ end, background }) => end && !background)
    const isSure = ({ end }: Child) => typeof after.find(({ seq }) => seq > (end?.seq ?? 0))?.turn === 'number'
    const unsure = ended.filter((child) => !isSure(child))
    const looked = unsure.length === 0 ? [] : answers.all(session, Math.min(...unsure.map(({ seq }) => seq)), parent)
    return new Set([...ended.filter(isSure).map(({ callId }) => callId ?? ''), ...looked.map((row) => text(row, 'callId'))])
  }

  function children(parent: string): readonly ChildRow[] {
    const all = childrenOf(parent)
    const [first] = all
    if (!first) return []
    const session = text(sessionAt.get(first.seq) ?? {}, 'session')
    const running = all.every(({ end }) => end) ? [] : replies.all(session, first.seq)
    const turns = new Map(running.map((row) => [text(row, 'agent'), number(row, 'turns')]))
    const seen = all.some(({ end }) => end) ? steps.all(session, first.seq, parent) : []
    const after = seen.map((row): Step => ({ seq: number(row, 'seq'), turn: numberOrNull(row, 'turn') }))
    const begins = firstStarts(after)
    const handed = handedTo(parent)
    const answered = answeredBy(all, parent, session, after)
    return all.map(({ seq: _seq, end, ...child }) => ({
      ...child,
      turns: end ? child.turns : (turns.get(child.id) ?? 0),
      end: end && endRow(end, begins),
      handed: end !== null && (handed.has(child.id) || (!child.background && answered.has(child.callId ?? ''))),
    }))
  }

  return {
    children: (parent) => read(file, () => children(parent)),
    undelivered: (parent) => read(file, () => {
      const handed = handedTo(parent)
      return childrenOf(parent)
        .filter(({ id, background, end }) => background && end !== null && !handed.has(id))
        .toSorted((a, b) => (a.end?.seq ?? 0) - (b.end?.seq ?? 0))
        .map(({ id }) => id)
    }),
  }
}

/** Where each turn began the first time: one that is asked for again after a crash is no new one. */
function firstStarts(steps: readonly Step[]): readonly number[] {
  const first = new Map<number, number>()
  for (const { seq, turn } of steps) if (turn !== null && !first.has(turn)) first.set(turn, seq)
  return [...first.values()]
}

function begunChild(row: Row): Child {
  const [title, type, callId, background, expectedDuration, maxTurns] = JSON.parse(text(row, 'facts')) as Facts<'start'>
  return {
    seq: number(row, 'seq'), id: text(row, 'agent'), title, type, callId, background: background === 1, expectedDuration,
    spawned: number(row, 'time'), started: null, turns: 0, maxTurns, end: null,
  }
}

function endOfChild(row: Row): Pick<Child, 'turns' | 'end'> {
  const [status, cause, turns, output] = JSON.parse(text(row, 'facts')) as Facts<'end'>
  return { turns, end: { seq: number(row, 'seq'), time: number(row, 'time'), status, cause, firstLine: firstLine(output) } }
}

const endRow = ({ seq: ended, ...end }: NonNullable<Child['end']>, begins: readonly number[]): ChildRow['end'] =>
  ({ ...end, turnsSince: begins.filter((seq) => seq > ended).length })
