import { isUtf8 } from 'node:buffer'

/**
 * Text of bytes that should be UTF-8. Bytes that are not are read as Latin-1, one character each: an old source file stays readable, and
 * word boundaries beside such bytes fall where git and the C library see them.
 */
export function decode(bytes: Buffer): string {
  const text = bytes.toString('utf8')
  return text.includes('\u{fffd}') && !isUtf8(bytes) ? decodeMixed(bytes) : text
}

function decodeMixed(bytes: Buffer): string {
  const parts: string[] = []
  let start = 0
  for (let at = 0; at < bytes.length;) {
    const length = sequenceLength(bytes, at)
    if (length > 0) {
      at += length
      continue
    }
    parts.push(bytes.toString('utf8', start, at), bytes.toString('latin1', at, at + 1))
    at += 1
    start = at
  }
  parts.push(bytes.toString('utf8', start))
  return parts.join('')
}

/** Length of the valid UTF-8 sequence at `at`; 0 if there is none. */
function sequenceLength(bytes: Buffer, at: number): number {
  const first = bytes[at] ?? 0
  if (first < 0x80) return 1
  const length = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : first >= 0xc2 ? 2 : 0
  return length > 0 && at + length <= bytes.length && isUtf8(bytes.subarray(at, at + length)) ? length : 0
}
