import { property, assert, array, nat, string, uint8Array } from 'fast-check'
import { expect, test } from 'vitest'
import { createClip } from '../../src/shell/clip.ts'

const LIMITS = { headCharacters: 10, tailCharacters: 10 } as const

function clipped(chunks: readonly Uint8Array[]): string {
  const clip = createClip(LIMITS)
  for (const chunk of chunks) clip.put(chunk)
  return clip.end()
}

/** A text in pieces of some bytes each. */
function pieces(text: string, sizes: readonly number[]): readonly Uint8Array[] {
  const bytes = new TextEncoder().encode(text)
  const found: Uint8Array[] = []
  for (let at = 0, i = 0; at < bytes.length; i += 1) {
    const size = (sizes[i % sizes.length] ?? 0) + 1
    found.push(bytes.subarray(at, at + size))
    at += size
  }
  return found
}

const sizes = array(nat(12), { minLength: 1, maxLength: 5 })

test('TOO-08: a text within the limit is kept as it is, however it comes in', () => {
  assert(property(string({ unit: 'binary', maxLength: 10 }), sizes, (text, sizes) => {
    expect(clipped(pieces(text, sizes))).toBe(text)
  }))
})

test('TOO-08: of a longer one the beginning and the end are kept, whole characters only, and the rest is counted', () => {
  assert(property(string({ unit: 'binary', minLength: 21, maxLength: 80 }), sizes, (text, sizes) => {
    const shown = clipped(pieces(text, sizes))
    if (shown === text) {
      // A character of two units at the limit of the head went to the tail.
      expect(text.length).toBeLessThanOrEqual(20)
      return
    }
    const [, head = '', count, tail = ''] = /^([^]{9,10})\n\[… (\d+) characters left out\]\n([^]{9,10})$/.exec(shown) ?? []
    expect(text.startsWith(head) && text.endsWith(tail)).toBe(true)
    expect(head.length + Number(count) + tail.length).toBe(text.length)
    expect(shown.isWellFormed()).toBe(true)
  }))
})

test('any bytes come to a well-formed text', () => {
  assert(property(array(uint8Array({ maxLength: 30 })), (chunks) => {
    expect(clipped(chunks).isWellFormed()).toBe(true)
  }))
})
