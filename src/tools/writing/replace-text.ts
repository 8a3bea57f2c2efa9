/** A line ending of either kind, in a file's bytes read as Latin-1. */
const ANY_NEWLINE = String.raw`(?:\r\n|(?<!\r)\n)`

/** `places`: where the text was found, overlapping ones too; `replaced`: how many of them, which do not overlap; `line`: of the first, 1-based. */
export type Replaced = { readonly bytes: Buffer; readonly places: number; readonly replaced: number; readonly line: number }

/**
 * Replaces a text in a file's bytes and leaves all others as they are: a byte order mark, bytes that are no UTF-8, line endings. A newline in `wanted`
 * stands for either kind, as tools show both alike; what is put in gets the kind of the place it replaces, or else the file's first.
 */
export function replaceText(before: Buffer, wanted: string, replacement: string): Replaced {
  // One character for each byte: positions and lengths are those of the file.
  const text = before.toString('latin1')
  const pattern = asBytes(wanted).split(/\r?\n/).map((line) => RegExp.escape(line)).join(ANY_NEWLINE)
  const { places, first } = count(text, new RegExp(pattern, 'g'))
  const put = asBytes(replacement)
  const usual = newlineOf(text)
  let replaced = 0
  const after = places === 0 ? text : text.replace(new RegExp(pattern, 'g'), (found) => {
    replaced += 1
    return withNewlines(put, newlineOf(found) ?? usual)
  })
  return { bytes: Buffer.from(after, 'latin1'), places, replaced, line: text.slice(0, Math.max(0, first)).split('\n').length }
}

function count(text: string, pattern: RegExp): { readonly places: number; readonly first: number } {
  let places = 0
  let first = -1
  for (let match = pattern.exec(text); match; match = pattern.exec(text)) {
    if (places === 0) first = match.index
    places += 1
    pattern.lastIndex = match.index + 1
  }
  return { places, first }
}

const asBytes = (text: string): string => Buffer.from(text).toString('latin1')

const newlineOf = (text: string): string | null => /\r?\n/.exec(text)?.[0] ?? null

/** Towards CRLF only: a `\r` that the model writes into a file of plain newlines is meant. */
const withNewlines = (text: string, newline: string | null): string => (newline === '\r\n' ? text.replaceAll(/\r?\n/g, '\r\n') : text)
