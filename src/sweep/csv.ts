import { CsvError, parse } from 'csv-parse/sync'
import { CadreError } from '../core/errors.ts'
import type { SweepItem } from './contract.ts'
import type { Table } from './table.ts'

const DELIMITERS = [',', ';', '\t'] as const

/**
 * The rows of a CSV file with a header row, as items: quoted fields, BOM, CRLF; `;` or tab where the header uses those. `name` is for
 * messages. Throws USAGE naming the line of the first row that does not fit: nothing is run on half a table.
 */
export function readCsv(text: string, name: string): Table {
  const [header, ...rows] = parseRows(text, name)
  if (header === undefined) throw new CadreError('USAGE', `${name} is empty: a CSV file needs a header row and at least one row below it.`)
  const columns = header.map((column) => column.trim())
  const blank = columns.indexOf('')
  if (blank >= 0) throw new CadreError('USAGE', `${name} line 1: column ${blank + 1} has no name. Name every column in the header row.`)
  const twice = columns.find((column, index) => columns.indexOf(column) !== index)
  if (twice !== undefined) throw new CadreError('USAGE', `${name} line 1: two columns are called "${twice}". Give each its own name.`)
  return { columns, items: rows.map((row) => toItem(columns, row)) }
}

function toItem(columns: readonly string[], row: readonly string[]): SweepItem {
  // Object.fromEntries defines own properties, so that a column called __proto__ is only a column.
  const values = Object.fromEntries(columns.map((column, index) => [column, row[index] ?? '']))
  return { item: JSON.stringify(values), columns: values }
}

function parseRows(text: string, name: string): readonly (readonly string[])[] {
  try {
    return parse(text, { bom: true, delimiter: delimiterOf(text), skip_empty_lines: true })
  } catch (error) {
    if (!(error instanceof CsvError)) throw error
    const message = `${name} cannot be read as CSV: ${error.message}. Mend that line, then run the sweep again.`
    throw new CadreError('USAGE', message, { cause: error })
  }
}

function delimiterOf(text: string): string {
  const header = text.slice(0, /\r?\n|$/.exec(text)?.index).replaceAll(/"[^"]*"/g, '')
  const count = (delimiter: string) => header.split(delimiter).length
  return DELIMITERS.reduce<string>((best, delimiter) => (count(delimiter) > count(best) ? delimiter : best), ',')
}
