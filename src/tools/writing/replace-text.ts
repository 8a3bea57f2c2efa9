/** `places`: where the text was found, of those that overlap at least two; `replaced`: how many of them, which do not overlap; `line`: of the first, 1-based. */
export type Replaced = { readonly bytes: Buffer; readonly places: number; readonly replaced: number; readonly line: number }

/**
 * Replaces a text in a file's bytes and leaves all others as they are: a byte order mark, bytes that are no UTF-8, line endings. A newline in `wanted`
 * stands for either kind, as tools show both alike; what is put in gets the kind of the place it replaces, or else the file's first.
 */
export function replaceText(before: Buffer, wanted: string, replacement: string): Replaced {
  // One character for each byte: positions and lengths are those of the file.
  const text = before.toString('latin1')
  const shown = text.replaceAll('\r\n', '\n')
  const needle = asBytes(wanted).replaceAll('\r\n', '\n')
  const put = asBytes(replacement)
  const putsLines = put.includes('\n')
  const usual = newlineOf(text)
  const inFile = positionsIn(text)
  const parts: string[] = []
  let [places, replaced, first, copied, free] = [0, 0, 0, 0, 0]
  for (let at = shown.indexOf(needle); at >= 0; at = shown.indexOf(needle, places < 2 ? at + 1 : Math.max(at + 1, free))) {
    places += 1
    if (at < free) continue
    if (replaced === 0) first = at
    replaced += 1
    free = at + needle.length
    const start = inFile(at)
    const end = inFile(free)
    parts.push(text.slice(copied, start), putsLines ? withNewlines(put, newlineOf(text.slice(start, end)) ?? usual) : put)
    copied = end
  }
  const bytes = replaced === 0 ? before : Buffer.from([...parts, text.slice(copied)].join(''), 'latin1')
  return { bytes, places, replaced, line: shown.slice(0, first).split('\n').length }
}

/** From positions in a text whose every CRLF became one newline to those in the text itself; to be asked in rising order. */
function positionsIn(text: string): (position: number) => number {
  let dropped = 0
  let next = text.indexOf('\r\n')
  return (position) => {
    while (next >= 0 && next - dropped < position) {
      dropped += 1
      next = text.indexOf('\r\n', next + 2)
    }
    return position + dropped
  }
}

const asBytes = (text: string): string => Buffer.from(text).toString('latin1')

const newlineOf = (text: string): string | null => /\r?\n/.exec(text)?.[0] ?? null

/** Towards CRLF only: a `\r` that the model writes into a file of plain newlines is meant. */
const withNewlines = (text: string, newline: string | null): string => (newline === '\r\n' ? text.replaceAll(/\r?\n/g, '\r\n') : text)
