import { wholeCharacters } from '../core/title.ts'

/** Characters of an output in which its first line is looked for, and of that line. */
const LOOK = { within: 4_000, line: 400 } as const

const WITH_WORDS = /^.*?[\p{L}\p{N}].*$/mu
const NOT_BLANK = /^.*?\S.*$/m

/** The first line of a text with a letter or digit in it, or the first that is not blank. The first line of a first line is itself. */
export function firstLine(text: string): string {
  const head = text.slice(0, LOOK.within)
  const [line = ''] = WITH_WORDS.exec(head) ?? NOT_BLANK.exec(head) ?? []
  return wholeCharacters(line.trim().slice(0, LOOK.line)).trim()
}
