import { isUtf8 } from 'node:buffer'
import { CadreError } from '../core/errors.ts'

const LINE_FEED = 10
/** Byte order marks of UTF-16, either way round. */
const UTF16_MARKS: readonly string[] = ['fffe', 'feff']

/**
 * The text of a table, which must be UTF-8: any other encoding would be read as other words than those written. Throws USAGE naming the
 * file, and the first line that is not.
 */
export function tableText(bytes: Buffer, name: string): string {
  const isUtf16 = UTF16_MARKS.includes(bytes.toString('hex', 0, 2))
  // No table has NULs, and UTF-16 without its mark is full of them.
  if (isUtf16 || bytes.includes(0)) throw notUtf8(`${name} is ${isUtf16 ? 'UTF-16' : 'UTF-16 or binary (it holds NUL bytes)'}`, name)
  if (!isUtf8(bytes)) throw notUtf8(`${name} line ${firstBadLine(bytes)} is not UTF-8`, name)
  return bytes.toString('utf8')
}

const notUtf8 = (what: string, name: string) =>
  new CadreError('USAGE', `${what}; rows are read as UTF-8 only. Convert ${name} to UTF-8 (iconv -t UTF-8), then run the sweep again.`)

/** Counted from 1. No part of a UTF-8 character is a line feed, so each line is good or bad by itself. */
function firstBadLine(bytes: Buffer): number {
  let line = 1
  for (let from = 0; from < bytes.length; line += 1) {
    const end = bytes.indexOf(LINE_FEED, from)
    const to = end < 0 ? bytes.length : end
    if (!isUtf8(bytes.subarray(from, to))) return line
    from = to + 1
  }
  return line
}
