import { CadreError, messageOf } from '../core/errors.ts'
import { isObject } from '../core/json.ts'
import type { SweepItem } from './contract.ts'
import { parseKeepingNumbers } from './source-numbers.ts'
import type { Table } from './table.ts'

/**
 * The lines of a JSONL file as items. An object's keys are its columns (a value that is no text as JSON, null as nothing); a string is
 * the item itself. Numbers stay as written, in columns and in the item, so rows that differ stay apart. Blank lines are skipped. Throws
 * USAGE naming the first line that is neither.
 */
export function readJsonl(text: string, name: string): Table {
  const columns = new Set<string>()
  const items: SweepItem[] = []
  for (const [index, line] of text.replace(/^\uFEFF/, '').split(/\r?\n/).entries()) {
    if (line.trim() === '') continue
    const value = parseLine(line, `${name} line ${index + 1}`)
    if (typeof value === 'string') {
      items.push({ item: value, columns: {} })
      continue
    }
    const values = Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, textOf(inner)]))
    for (const key of Object.keys(values)) columns.add(key)
    items.push({ item: JSON.stringify(value), columns: values })
  }
  return { items, columns: [...columns] }
}

function parseLine(line: string, place: string) {
  let value: unknown
  try {
    value = parseKeepingNumbers(line)
  } catch (error) {
    const message = `${place} is not JSON (${messageOf(error)}). Each line must be one JSON object or string.`
    throw new CadreError('USAGE', message, { cause: error })
  }
  if (typeof value === 'string') return value
  const isNumber = /^[-\d]/.test(line.trim())
  if (isObject(value) && !isNumber) return value
  const what = value === null ? 'null' : Array.isArray(value) ? 'an array' : isNumber ? 'a number' : `a ${typeof value}`
  throw new CadreError('USAGE', `${place} is ${what}. Each line must be one JSON object or string.`)
}

function textOf(value: unknown): string {
  if (typeof value === 'string') return value
  return value === null || value === undefined ? '' : JSON.stringify(value)
}
