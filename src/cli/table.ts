import { cells, fit, fitEnd, printable } from './terminal-text.ts'
import type { Style } from './style.ts'

/** `cut`: where the column may lose text when the terminal is too narrow; a column without it is never cut. */
export type Column = { readonly title: string; readonly align?: 'right'; readonly cut?: 'end' | 'start' }

/** A cell: plain text, or text with the colour it is shown in. */
export type Cell = string | Painted
type Painted = { readonly text: string; readonly paint: (text: string) => string }

/** Columns of figures. */
export const figureColumns = (...titles: readonly string[]): readonly Column[] => titles.map((title) => ({ title, align: 'right' }))

const GAP = '  '
/** Columns a cut column keeps. */
const LEAST = 6

/**
 * Rows below their titles, in columns as wide as their content; on a terminal the widest columns that may be cut are cut until a row fits
 * one line. Whatever the cells hold, it cannot move the cursor. Empty for no rows.
 */
export function renderTable(columns: readonly Column[], rows: readonly (readonly Cell[])[], { paint, width }: Style): string {
  if (rows.length === 0) return ''
  const body = rows.map((row) => row.map(painted))
  const natural = columns.map(({ title }, at) => Math.max(cells(title), ...body.map((row) => cells(row[at]?.text ?? ''))))
  const widths = shrink(natural, columns, width - GAP.length * (columns.length - 1))
  const line = (row: readonly Painted[]) =>
    columns.map(({ align, cut }, at) => {
      const cell = row[at] ?? { text: '', paint: plain }
      const room = widths[at] ?? 0
      const text = cut === 'start' ? fitEnd(cell.text, room) : fit(cell.text, room)
      const fill = ' '.repeat(Math.max(0, room - cells(text)))
      if (align === 'right') return fill + cell.paint(text)
      return cell.paint(text) + (at === columns.length - 1 ? '' : fill)
    }).join(GAP).trimEnd()
  return [paint.dim(line(columns.map(({ title }) => ({ text: title, paint: plain })))), ...body.map(line)].map((row) => `${row}\n`).join('')
}

const plain = (text: string): string => text

const painted = (cell: Cell): Painted =>
  typeof cell === 'string' ? { text: printable(cell), paint: plain } : { text: printable(cell.text), paint: cell.paint }

/** Takes columns from the widest that may be cut, one by one, until all fit into `room`. */
function shrink(natural: readonly number[], columns: readonly Column[], room: number): readonly number[] {
  const widths = [...natural]
  for (let over = widths.reduce((sum, width) => sum + width, 0) - room; over > 0; over -= 1) {
    const widest = widths.reduce((best, width, at) => (columns[at]?.cut && width > LEAST && width > (widths[best] ?? 0) ? at : best), -1)
    if (widest === -1) break
    widths[widest] = (widths[widest] ?? 0) - 1
  }
  return widths
}
