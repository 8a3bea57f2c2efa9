import { stripVTControlCharacters } from 'node:util'

/** One line that cannot move the cursor, change colours or play tricks with direction, whoever wrote it. */
export const printable = (text: string): string =>
  stripVTControlCharacters(text)
    .replaceAll(/\s+/g, ' ')
    .replaceAll(/[\p{Cc}\p{Cf}\p{Cs}\p{Co}]/gu, '')
    .trim()

const NO_CELL = /^\p{M}/u
const TWO_CELLS = /^[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{1f300}-\u{3fffd}]/u

/** The columns a printable text takes on a terminal. */
export function cells(text: string): number {
  let sum = 0
  for (const char of text) sum += NO_CELL.test(char) ? 0 : TWO_CELLS.test(char) ? 2 : 1
  return sum
}

/** The text, cut to `width` columns with `…` at its end. */
export function fit(text: string, width: number): string {
  if (cells(text) <= width) return text
  let cut = ''
  let used = 1
  for (const char of text) {
    used += cells(char)
    if (used > width) break
    cut += char
  }
  return width < 1 ? '' : `${cut.trimEnd()}…`
}

/** The text, cut or filled up with spaces to exactly `width` columns. */
export function pad(text: string, width: number): string {
  const fitted = fit(text, width)
  return fitted + ' '.repeat(width - cells(fitted))
}

/** The end of a text (a path's file name says most), cut to `width` columns with `…` before it. */
export function fitEnd(text: string, width: number): string {
  if (cells(text) <= width) return text
  let cut = ''
  let used = 1
  for (const char of Array.from(text).toReversed()) {
    used += cells(char)
    if (used > width) break
    cut = char + cut
  }
  return `…${cut}`
}
