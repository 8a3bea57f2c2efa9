/** UTF-8 bytes one UTF-16 unit takes at most. */
const BYTES_PER_CHARACTER = 3

/** Keeps the last `characters` of what is put in, and little more in memory, however much that is. */
export function createTail(characters: number): { put(bytes: Uint8Array): void; text(): string } {
  const keep = characters * BYTES_PER_CHARACTER
  let tail: Buffer = Buffer.alloc(0)
  return {
    put(bytes) {
      // A copy, never a view: what came in may be a piece of something large.
      tail = Buffer.concat([tail, bytes.length > keep ? bytes.subarray(-keep) : bytes]).subarray(-keep)
    },
    text() {
      // The cut may leave a part of a character at the beginning.
      const first = tail.findIndex((byte) => (byte & 0xc0) !== 0x80)
      const text = tail.length < keep ? tail.toString('utf8') : tail.toString('utf8', Math.max(0, first))
      return text.slice(-characters).replace(/^[\uDC00-\uDFFF]/, '')
    },
  }
}
