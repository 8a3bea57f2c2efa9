const NEWLINE = 10

/** Some lines of a file, as bytes. `cut`: the one line did not fit and is there only in part. */
export type LineRange = { readonly bytes: Buffer; readonly lines: number; readonly total: number; readonly cut: boolean }

/** Takes whole lines from line `from` (1-based) on, as many as fit both limits but at least a part of one; counts all lines of the file. */
export class LineRangeReader {
  readonly #from: number
  readonly #maxLines: number
  readonly #maxBytes: number
  readonly #parts: Buffer[] = []
  #bytes = 0
  /** Bytes up to the end of the last whole line taken. */
  #settled = 0
  #lines = 0
  #line = 1
  #lineIsEmpty = true
  #full = false
  #cut = false

  constructor(limits: { readonly from: number; readonly maxLines: number; readonly maxBytes: number }) {
    this.#from = limits.from
    this.#maxLines = limits.maxLines
    this.#maxBytes = limits.maxBytes
  }

  push(chunk: Buffer): void {
    for (let at = 0; at < chunk.length;) {
      const newline = chunk.indexOf(NEWLINE, at)
      const end = newline < 0 ? chunk.length : newline + 1
      if (this.#line >= this.#from && !this.#full) this.#take(chunk.subarray(at, end), newline >= 0)
      this.#lineIsEmpty = newline >= 0
      if (newline >= 0) this.#line += 1
      at = end
    }
  }

  result(): LineRange {
    if (this.#bytes > this.#settled && !this.#cut) this.#lines += 1
    const total = this.#lineIsEmpty ? this.#line - 1 : this.#line
    return { bytes: Buffer.concat(this.#parts, this.#bytes), lines: this.#lines, total, cut: this.#cut }
  }

  #take(part: Buffer, endsLine: boolean): void {
    const room = this.#maxBytes - this.#bytes
    if (part.length > room) {
      this.#full = true
      if (this.#lines > 0) this.#bytes = this.#settled
      else this.#takePart(part.subarray(0, wholeCharacters(part, room)))
      return
    }
    this.#parts.push(Buffer.from(part))
    this.#bytes += part.length
    if (!endsLine) return
    this.#settled = this.#bytes
    this.#lines += 1
    this.#full = this.#lines === this.#maxLines
  }

  #takePart(part: Buffer): void {
    this.#parts.push(Buffer.from(part))
    this.#bytes += part.length
    this.#lines = 1
    this.#cut = true
  }
}

/** The largest end up to `end` that splits no UTF-8 character. */
function wholeCharacters(bytes: Buffer, end: number): number {
  let at = end
  while (at > 0 && ((bytes[at] ?? 0) & 0xc0) === 0x80) at -= 1
  return at
}
