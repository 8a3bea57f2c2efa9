/** TOO-08, in UTF-16 units. */
export const OUTPUT = { headCharacters: 15_000, tailCharacters: 15_000 } as const

/** Keeps the beginning and the end of what is put in, and little more in memory, however much that is. */
export type Clip = {
  put(bytes: Uint8Array): void
  /** Well-formed; bytes that are no UTF-8 are U+FFFD. Once only, when all is put in. */
  end(): string
}

export function createClip({ headCharacters, tailCharacters }: { readonly headCharacters: number; readonly tailCharacters: number } = OUTPUT): Clip {
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true })
  let head = ''
  let tail = ''
  let left = 0

  function take(text: string): void {
    const room = tail === '' && left === 0 ? headCharacters - head.length : 0
    const cut = room < text.length && isHigh(text.charCodeAt(room - 1)) ? room - 1 : room
    head += text.slice(0, cut)
    tail += text.slice(cut)
    if (tail.length > 2 * tailCharacters) shorten()
  }

  function shorten(): void {
    let from = Math.max(0, tail.length - tailCharacters)
    if (from > 0 && isHigh(tail.charCodeAt(from - 1))) from += 1
    left += from
    tail = tail.slice(from)
  }

  return {
    put: (bytes) => take(decoder.decode(bytes, { stream: true })),
    end() {
      take(decoder.decode())
      shorten()
      return left === 0 ? head + tail : `${head}\n[… ${left} characters left out]\n${tail}`
    },
  }
}

const isHigh = (unit: number): boolean => unit >= 0xd800 && unit <= 0xdbff
