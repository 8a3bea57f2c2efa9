import { isObject, type Json, type JsonObject } from '../core/json.ts'

export type Level = 'error' | 'warning' | 'note'

/** Something an agent found at a place in a file. Lines and columns are 1-based; `null`: the file as a whole. */
export type Finding = {
  readonly file: string
  readonly line: number | null
  readonly column: number | null
  /** What sort of finding: its `kind` (or `rule`), else the agent's name. */
  readonly kind: string
  readonly level: Level
  readonly message: string
}

const LEVELS: Readonly<Record<string, Level>> = {
  critical: 'error', high: 'error', error: 'error',
  medium: 'warning', warning: 'warning', warn: 'warning',
  low: 'note', note: 'note', info: 'note',
}
const LIST_KEYS = ['findings', 'items', 'results'] as const
/** A value nested deeper holds no lists of findings. */
const MAX_DEPTH = 4

/**
 * The findings a value carries (CMD-12): itself, in a list, or under `findings`, also per item of a batch (`items`, `results`). A finding
 * is an object with a `file` (or `path`), a `message` (or `text`) and, unless it is about the whole file, a `line`. All else is no
 * finding.
 */
export function findingsOf(value: Json | null, agent: string, depth = 0): readonly Finding[] {
  if (depth > MAX_DEPTH) return []
  if (Array.isArray(value)) return value.flatMap((inner: Json) => findingsOf(inner, agent, depth + 1))
  if (!isObject(value)) return []
  const finding = toFinding(value, agent)
  if (finding) return [finding]
  return LIST_KEYS.flatMap((key) => (Array.isArray(value[key]) ? findingsOf(value[key], agent, depth + 1) : []))
}

function toFinding(value: JsonObject, agent: string): Finding | null {
  const file = textOf(value['file']) ?? textOf(value['path'])
  const message = textOf(value['message']) ?? textOf(value['text'])
  if (file === null || message === null) return null
  return {
    file: file.replace(/^\.\//, ''),
    line: positionOf(value['line']),
    column: positionOf(value['column']),
    kind: textOf(value['kind']) ?? textOf(value['rule']) ?? agent,
    level: LEVELS[(textOf(value['level']) ?? textOf(value['severity']) ?? '').toLowerCase()] ?? 'warning',
    message,
  }
}

const textOf = (value: Json | undefined): string | null => (typeof value === 'string' && value.trim() !== '' ? value.trim() : null)

/** Models write line numbers as text now and then. */
function positionOf(value: Json | undefined): number | null {
  const number = typeof value === 'string' && /^\d{1,9}$/.test(value) ? Number(value) : value
  return typeof number === 'number' && Number.isSafeInteger(number) && number > 0 ? number : null
}

const LEVEL_ORDER: Readonly<Record<Level, number>> = { error: 0, warning: 1, note: 2 }

/** Errors first, then by file, line, column, kind and message: a total order, so that reports do not depend on who finished first. */
export const compareFindings = (a: Finding, b: Finding): number =>
  LEVEL_ORDER[a.level] - LEVEL_ORDER[b.level] ||
  compareText(a.file, b.file) ||
  (a.line ?? 0) - (b.line ?? 0) ||
  (a.column ?? 0) - (b.column ?? 0) ||
  compareText(a.kind, b.kind) ||
  compareText(a.message, b.message)

const compareText = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0)

/** `src/a.ts:12`, or the file alone. */
export const placeOf = ({ file, line }: Pick<Finding, 'file' | 'line'>): string => (line === null ? file : `${file}:${line}`)
