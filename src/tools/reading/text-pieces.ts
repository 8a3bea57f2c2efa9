import { createHash } from 'node:crypto'

import type { Place } from './confine.ts'
import { decode } from './decode.ts'
import { LineSearch } from './line-search.ts'
import type { ReadLog } from './reads.ts'
import { chunksOf, isBinary, readBytes, readSmallFile, withRegularFile } from './regular-file.ts'

/** Whole lines of a file, as a search wants them; `firstLine` is the number of the first. */
export type Piece = { readonly text: string; readonly firstLine: number }

/** Files up to this size are one piece. */
const WHOLE_BYTES = 4_194_304
/** A longer line is searched in parts of this size. */
const MAX_LINE_BYTES = 16_777_216

const NEWLINE = 10

/**
 * Hands a text file over in pieces of whole lines until `onPiece` returns false, and logs it as read. Returns false for a binary file: it is
 * not searched. `scratch` speeds up many files in a row that a listing called regular. Throws as `withRegularFile` does.
 */
export function forEachPiece(place: Place, log: ReadLog, onPiece: (piece: Piece) => boolean, scratch: Buffer | null = null): boolean {
  const small = scratch && readSmallFile(place, scratch)
  if (small) return inOnePiece(small, place.path, log, onPiece)
  return withRegularFile(place, (fd, size) =>
    size > WHOLE_BYTES ? inPieces(fd, size, place.path, log, onPiece) : inOnePiece(readBytes(fd, size), place.path, log, onPiece))
}

function inOnePiece(bytes: Buffer, path: string, log: ReadLog, onPiece: (piece: Piece) => boolean): boolean {
  log.add(path, bytes)
  if (isBinary(bytes)) return false
  onPiece({ text: LineSearch.normalise(decode(bytes)), firstLine: 1 })
  return true
}

function inPieces(fd: number, size: number, path: string, log: ReadLog, onPiece: (piece: Piece) => boolean): boolean {
  const content = createHash('sha1')
  let rest = Buffer.alloc(0)
  let firstLine = 1
  let wanted = true
  let binary: boolean | null = null
  const handOver = (bytes: Buffer): void => {
    if (!wanted || bytes.length === 0) return
    wanted = onPiece({ text: LineSearch.normalise(decode(bytes)), firstLine })
    firstLine += newlinesIn(bytes)
  }
  for (const chunk of chunksOf(fd, size)) {
    content.update(chunk)
    binary ??= isBinary(chunk)
    if (binary || !wanted) continue
    const cut = chunk.lastIndexOf(NEWLINE) + 1
    const lines = Buffer.concat([rest, chunk])
    const whole = cut === 0 ? (lines.length > MAX_LINE_BYTES ? lines.length : 0) : rest.length + cut
    handOver(lines.subarray(0, whole))
    rest = lines.subarray(whole)
  }
  if (binary !== true) handOver(rest)
  log.addHash(path, content.digest('hex'))
  return binary !== true
}

function newlinesIn(bytes: Buffer): number {
  let count = 0
  for (let at = bytes.indexOf(NEWLINE); at >= 0; at = bytes.indexOf(NEWLINE, at + 1)) count += 1
  return count
}
