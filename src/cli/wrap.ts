import { cells, fit, printable } from '../sweep/terminal-text.ts'

/** Breaks a text into lines of at most `width` columns, between words; a longer word is cut. Nothing in it moves the cursor. */
export function wrap(text: string, width: number): readonly string[] {
  const lines: string[] = []
  let line = ''
  for (const word of printable(text).split(' ')) {
    const longer = line === '' ? word : `${line} ${word}`
    if (cells(longer) <= width) {
      line = longer
    } else {
      if (line !== '') lines.push(line)
      line = fit(word, width)
    }
  }
  return [...lines, line]
}
