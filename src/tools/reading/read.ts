import { createHash, hash } from 'node:crypto'

import type { ReadContext, ReadFunction, ToolAnswer } from '../../core/tool.ts'
import { codeOf, confine, display } from './confine.ts'
import type { Place } from './confine.ts'
import { decode } from './decode.ts'
import type { ReadInput } from './inputs.ts'
import { LineRangeReader } from './line-range.ts'
import type { LineRange } from './line-range.ts'
import { chunksOf, isBinary, withRegularFile } from './regular-file.ts'
import { noSuchFile } from './similar.ts'

/** TOO-03. Programs get whole lines: they have no context to fill, so only the bytes count. */
const READ_LIMITS = { lines: 2_000, lineChars: 2_000, bytes: 262_144 } as const

/** Reads lines of a text file. Throws what the model should read: missing, binary, a folder, outside the workspace. */
export const read: ReadFunction<ReadInput> = (input, context) => {
  const place = confine(context, input.path)
  try {
    return readLines(input, place, context)
  } catch (error) {
    const code = codeOf(error)
    throw code === 'ENOENT' || code === 'ENOTDIR' ? new Error(noSuchFile(place, input.path), { cause: error }) : error
  }
}

function readLines({ path, offset = 1, limit = Infinity }: ReadInput, place: Place, { form, stopped }: ReadContext): ToolAnswer {
  const from = Math.max(1, offset)
  const maxLines = Math.min(limit, form === 'data' ? Infinity : READ_LIMITS.lines)
  const reader = new LineRangeReader({ from, maxLines, maxBytes: READ_LIMITS.bytes })
  const contentHash = withRegularFile(place, (fd, size) => {
    let content: ReturnType<typeof createHash> | null = null
    for (const chunk of chunksOf(fd, size)) {
      if (content === null && isBinary(chunk)) throw new Error(`${display(path)} is binary (${size} bytes)`)
      if (stopped()) throw new Error('Stopped.')
      reader.push(chunk)
      if (chunk.length === size) return hash('sha1', chunk) // a file of one piece, as most are: a tenth of the cost
      content = (content ?? createHash('sha1')).update(chunk)
    }
    return content?.digest('hex') ?? hash('sha1', '')
  })
  const range = reader.result()
  if (range.lines === 0 && range.total > 0) throw new Error(`offset ${from} is past the end: ${display(path)} has ${range.total} lines`)
  const text = form === 'data' ? asData(place, from, range) : asText(from, range)
  return { text, reads: [{ path: place.path, hash: contentHash }] }
}

function asData({ path }: Place, from: number, { bytes, lines, total, cut }: LineRange): string {
  return JSON.stringify({ path, text: decode(bytes), from, lines, total, more: moreLines(from, lines, total), cut })
}

function asText(from: number, { bytes, lines, total }: LineRange): string {
  if (total === 0) return '[the file is empty]'
  const shown = decode(bytes).replace(from === 1 ? /^\u{feff}/u : /^$/, '').replace(/\n$/, '').split('\n')
  const numbered = shown.map((line, index) => `${from + index}\t${clipLine(line.replace(/\r$/, ''))}`)
  const more = moreLines(from, lines, total)
  if (more > 0) numbered.push(`[${more} more lines: offset=${from + lines}]`)
  return numbered.join('\n')
}

const moreLines = (from: number, lines: number, total: number): number => Math.max(0, total - (from + lines - 1))

function clipLine(line: string): string {
  const hidden = line.length - READ_LIMITS.lineChars
  return hidden > 0 ? `${line.slice(0, READ_LIMITS.lineChars)}… [${hidden} more characters]` : line
}
