import { setImmediate as turn } from 'node:timers/promises'
import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { LightDecoder, LightReadable, LightTransform } from '../../scripts/light-streams.ts'

/** Node's streams and ours, by the same names. The packages know the first, and the build gives them the second. */
type Kit = {
  readonly ReadableStream: typeof ReadableStream
  readonly TransformStream: typeof TransformStream
  readonly TextDecoderStream: typeof TextDecoderStream
}
const NODE: Kit = { ReadableStream, TransformStream, TextDecoderStream }
const LIGHT = { ReadableStream: LightReadable, TransformStream: LightTransform, TextDecoderStream: LightDecoder } as unknown as Kit

/** What a chain of streams does, as the packages build it: bytes to text, to lines, to words of them, watched by a second branch. */
type Chain = {
  readonly pieces: readonly Uint8Array[]
  /** Reading fails before this piece, or a transformer throws at this line or at the end; of two faults Node's tell the faster one. */
  readonly breaksAt?: number
  readonly throwsAt?: number
  readonly throwsInFlush?: boolean
  /** The first branch is given up after so many reads. */
  readonly watched: number
  readonly slow: boolean
}

type Outcome = { readonly given: readonly string[]; readonly end: string; readonly cancelled: number }

async function outcome(kit: Kit, { pieces, breaksAt, throwsAt, throwsInFlush, watched, slow }: Chain): Promise<Outcome> {
  let at = 0
  let lines = 0
  let cancelled = 0
  const bytes = new kit.ReadableStream<Uint8Array<ArrayBuffer>>({
    async pull(controller) {
      if (slow) await turn()
      if (at === breaksAt) throw new Error('the line broke')
      const piece = pieces[at++]
      if (piece) controller.enqueue(new Uint8Array(piece))
      else controller.close()
    },
    cancel: () => { cancelled += 1 },
  })
  let rest = ''
  const [first, second] = bytes
    .pipeThrough(new kit.TextDecoderStream())
    .pipeThrough(new kit.TransformStream<string, string>({
      transform(text, controller) {
        const parts = (rest + text).split('\n')
        rest = parts.pop() ?? ''
        for (const part of parts) controller.enqueue(part)
      },
      flush: (controller) => controller.enqueue(rest),
    }))
    .pipeThrough(new kit.TransformStream<string, string>({
      start: (controller) => controller.enqueue('begin'),
      async transform(line, controller) {
        if (slow) await turn()
        if (lines++ === throwsAt) throw new Error('no such line')
        for (const word of line.split(' ').filter(Boolean)) controller.enqueue(word)
      },
      flush(controller) {
        if (throwsInFlush) throw new Error('no end')
        controller.enqueue('end')
      },
    }))
    .tee()
  const watcher = first.getReader()
  for (let i = 0; i < watched; i += 1) if ((await watcher.read().catch(() => ({ done: true }))).done) break
  watcher.cancel().catch(() => {})
  const reader = second.getReader()
  const given: string[] = []
  try {
    for (let next = await reader.read(); !next.done; next = await reader.read()) given.push(next.value)
    return { given, end: 'whole', cancelled }
  } catch (error) {
    await turn()
    return { given, end: (error as Error).message, cancelled }
  }
}

const sound: fc.Arbitrary<Chain> = fc.record({
  pieces: fc.array(fc.string({ unit: fc.constantFrom('a', ' ', '\n', 'ü', '世', '🌍') }), { maxLength: 6 })
    .chain((texts) => fc.array(fc.nat(12), { maxLength: 8 }).map((cuts) => cutUp(Buffer.from(texts.join('')), cuts))),
  watched: fc.nat(4),
  slow: fc.boolean(),
})

const chain = fc.tuple(sound, fc.oneof(
  fc.constant({}), fc.constant({ throwsInFlush: true }), fc.nat(6).map((breaksAt) => ({ breaksAt })), fc.nat(6).map((throwsAt) => ({ throwsAt })),
)).map(([sane, fault]): Chain => ({ ...sane, ...fault }))

/** Bytes in pieces, also through the middle of a letter. */
function cutUp(bytes: Uint8Array, cuts: readonly number[]): readonly Uint8Array[] {
  const ends = [...new Set([...cuts.filter((cut) => cut < bytes.length), bytes.length])].toSorted((a, b) => a - b)
  return ends.map((end, i) => bytes.subarray(ends[i - 1] ?? 0, end)).filter(({ length }) => length > 0)
}

describe('the streams of the build', () => {
  test('give what Node\'s give, and end as they do, however a body is cut and wherever it breaks', async () => {
    await fc.assert(fc.asyncProperty(chain, async (given) => {
      const [node, light] = [await outcome(NODE, given), await outcome(LIGHT, given)]
      expect(light.end).toBe(node.end)
      if (node.end === 'whole') expect(light.given).toEqual(node.given)
      // Node's throw away what they hold when an error comes.
      else expect(light.given.slice(0, node.given.length)).toEqual(node.given)
      expect(light.cancelled).toBeGreaterThanOrEqual(node.cancelled) // Node's read ahead: they may have no more to give up
    }), { numRuns: 300 })
  })

  test('read on only when asked: a reader that stops stops the sender', async () => {
    let sent = 0
    const stream = new LightReadable<number>({ pull: (controller) => controller.enqueue(sent++) })
      .pipeThrough(new LightTransform<number, number>({ transform: (piece, controller) => controller.enqueue(piece) }))
    const reader = stream.getReader()
    for (let i = 0; i < 3; i += 1) await reader.read()
    await turn()
    expect(sent).toBe(3)
  })

  test('that are given up give up the body, once both branches are', async () => {
    const given: unknown[] = []
    const [a, b] = new LightReadable<number>({ pull: (controller) => controller.enqueue(1), cancel: async (reason) => void given.push(reason) }).tee()
    await a.getReader().cancel('first')
    expect(given).toEqual([])
    const reader = b.getReader()
    expect(await reader.read()).toEqual({ done: false, value: 1 })
    await reader.cancel('second')
    expect(given).toEqual(['second'])
    expect(await reader.read()).toEqual({ done: true, value: undefined })
  })

  test('of a kind nobody needs are refused at once, not left without an end', () => {
    expect(() => new LightReadable({})).toThrow('The build of Cadre has streams that are pulled only.')
  })
})
