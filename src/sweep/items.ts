import { CadreError, messageOf } from '../core/errors.ts'
import type { SweepInputs, SweepItem } from './contract.ts'
import { readCsv } from './csv.ts'
import { readJsonl } from './jsonl.ts'
import { splitPatterns } from './patterns.ts'
import { tableText } from './table-text.ts'
import type { Table } from './table.ts'

export type Found = Table & {
  /** How many more there were, equal to one before. */
  readonly duplicates: number
}

type Doors = Pick<SweepInputs, 'listFiles' | 'readFile' | 'stdin'>

/**
 * Everything a sweep is to work on, read whole before anything is run: a bad row costs nothing, and the total is known. Equal items count
 * once. `isOwn` tells files the sweep itself writes. On abort, stdin is read no further. Throws USAGE when there is nothing to do, or a
 * row is bad.
 */
export async function readItems(over: string, doors: Doors, isOwn: (path: string) => boolean, signal: AbortSignal): Promise<Found> {
  const table = await readTable(over.trim(), doors, isOwn, signal)
  const items = [...new Map(table.items.map((item) => [item.item, item])).values()]
  return { items, columns: table.columns, duplicates: table.items.length - items.length }
}

async function readTable(over: string, doors: Doors, isOwn: (path: string) => boolean, signal: AbortSignal): Promise<Table> {
  if (over === '-') {
    const lines = await readLines(doors.stdin(), signal)
    return nonEmpty({ columns: [], items: lines.map(plain) }, 'stdin held no lines. Pipe one item per line into it.', signal)
  }
  const format = tableFormat(over)
  const bytes = format && (await readTableFile(over, doors))
  if (format && bytes) return nonEmpty(format(tableText(bytes, over), over), `${over} has no rows.`, signal)
  const files = await listFiles(over, doors)
  const why =
    `no file matches ${over || 'an empty pattern'}, git-ignored files left out. ` +
    'Check the pattern, and quote it so that the shell leaves it alone.'
  return nonEmpty({ columns: [], items: files.filter((path) => !isOwn(path)).map(plain) }, why, signal)
}

const plain = (item: string): SweepItem => ({ item, columns: {} })

/** One file name without pattern characters, ending like a table. `data[.]csv` sweeps over the file itself instead of its rows. */
function tableFormat(over: string): ((text: string, name: string) => Table) | null {
  if (/[*?[\]{}]/.test(over)) return null
  if (/\.[ct]sv$/i.test(over)) return readCsv
  return /\.(jsonl|ndjson)$/i.test(over) ? readJsonl : null
}

/** The content of a table. `data (1).csv` and `a,b.csv` are names if there is such a file, and patterns (null) if not. */
async function readTableFile(path: string, doors: Doors): Promise<Buffer | null> {
  try {
    return await doors.readFile(path)
  } catch (error) {
    if (/[(),!]/.test(path)) return null
    throw new CadreError('USAGE', `${path} cannot be read: ${messageOf(error)}. Check the path after --over.`, { cause: error })
  }
}

async function listFiles(over: string, doors: Doors): Promise<readonly string[]> {
  const { take, leave } = splitPatterns(over)
  const listed = async (patterns: readonly string[]) => {
    const lists = await Promise.all(patterns.map((pattern) => doors.listFiles(pattern)))
    return new Set(lists.flat())
  }
  const [taken, left] = await Promise.all([listed(take), listed(leave)])
  const files = [...taken].filter((path) => !left.has(path))
  return take.length > 1 ? files.toSorted((a, b) => (a < b ? -1 : 1)) : files
}

async function readLines(source: AsyncIterable<string>, signal: AbortSignal): Promise<readonly string[]> {
  const lines: string[] = []
  const iterator = source[Symbol.asyncIterator]()
  // A terminal that sends no line must not keep a stopped sweep waiting.
  const aborted = Promise.withResolvers<{ readonly done: true; readonly value: undefined }>()
  const onAbort = () => aborted.resolve({ done: true, value: undefined })
  signal.addEventListener('abort', onAbort, { once: true })
  if (signal.aborted) onAbort()
  try {
    for (;;) {
      const next = await Promise.race([iterator.next(), aborted.promise])
      if (next.done) return lines
      const line = (lines.length === 0 ? next.value.replace(/^\uFEFF/, '') : next.value).replace(/\r$/, '')
      if (line.trim() !== '') lines.push(line)
    }
  } finally {
    signal.removeEventListener('abort', onAbort)
  }
}

function nonEmpty(table: Table, why: string, signal: AbortSignal): Table {
  if (table.items.length === 0 && !signal.aborted) throw new CadreError('USAGE', `There is no item to sweep over: ${why}`)
  return table
}
