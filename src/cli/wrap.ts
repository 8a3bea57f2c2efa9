import { cells, fit, printable } from './terminal-text.ts'

/**
 * Breaks a text into lines of at most `width` columns, between words; a longer word is cut, and so is the last of `maxLines`. Nothing in it
 * moves the cursor.
 */
export function wrap(text: string, width: number, maxLines = Infinity): readonly string[] {
  const lines: string[] = []
  for (const word of printable(text).split(' ')) {
    const last = lines.at(-1)
    const fits = last !== undefined && (lines.length === maxLines || cells(last) + 1 + cells(word) <= width)
    if (fits) lines[lines.length - 1] = `${last} ${word}`
    else lines.push(word)
  }
  return lines.map((line) => fit(line, width))
}
