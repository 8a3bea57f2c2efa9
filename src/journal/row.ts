import type { SQLOutputValue } from 'node:sqlite'

import { CadreError } from '../core/errors.ts'
import type { CadreEvent } from '../core/events.ts'
import type { JsonObject } from '../core/json.ts'
import { isObject } from '../core/json.ts'

/** A row as node:sqlite gives it. */
export type Row = Readonly<Record<string, SQLOutputValue>>

/** The columns of an event beside its number and its data. */
export type Columns = {
  readonly time: number
  readonly session: string
  readonly root: string
  readonly agent: string
  readonly parent: string | null
  readonly depth: number
  readonly type: string
  readonly key: string | null
}

/**
 * An event from its parts, in the order streams print them (CMD-04). Journals hold only what `encode` let in: `type` fixes the shape of
 * `data`.
 */
export function assemble(seq: number, { time, session, root, agent, parent, depth, type, key }: Columns, data: JsonObject): CadreEvent {
  const event = { v: 1, seq, time, session, root, agent, parent, depth, type, data }
  return (key === null ? event : { ...event, key }) as unknown as CadreEvent
}

export const EVENT_COLUMNS = 'seq, time, session, root, agent, parent, depth, type, key, data'

/** An event from a row of `EVENT_COLUMNS`. Throws JOURNAL for a row that holds something else. */
export function decode(row: Row): CadreEvent {
  const data: unknown = JSON.parse(text(row, 'data'))
  if (!isObject(data)) throw unreadable('data', row)
  return assemble(number(row, 'seq'), {
    time: number(row, 'time'),
    session: text(row, 'session'),
    root: text(row, 'root'),
    agent: text(row, 'agent'),
    parent: textOrNull(row, 'parent'),
    depth: number(row, 'depth'),
    type: text(row, 'type'),
    key: textOrNull(row, 'key'),
  }, data)
}

export function text(row: Row, column: string): string {
  const value = row[column]
  if (typeof value !== 'string') throw unreadable(column, row)
  return value
}

export function textOrNull(row: Row, column: string): string | null {
  return row[column] === null ? null : text(row, column)
}

export function number(row: Row, column: string): number {
  const value = row[column]
  if (typeof value !== 'number') throw unreadable(column, row)
  return value
}

export function numberOrNull(row: Row, column: string): number | null {
  return row[column] === null ? null : number(row, column)
}

/** For a column with a fixed set of words, given as the keys of a table. */
export function word<Word extends string>(row: Row, column: string, words: Readonly<Record<Word, true>>): Word {
  const value = text(row, column)
  if (!Object.hasOwn(words, value)) throw unreadable(column, row)
  return value as Word
}

const unreadable = (column: string, row: Row): CadreError =>
  new CadreError('JOURNAL',
    `Event ${String(row['seq'] ?? '?')} of the journal cannot be read: its ${column} is ${JSON.stringify(row[column])}. ` +
    'Move the file away and start again.')
