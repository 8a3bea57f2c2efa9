import type { IncomingMessage } from 'node:http'
import { pipeline, type Readable } from 'node:stream'

const MB = 1_000_000

/**
 * The decoded bytes of an answer, at most `mostMb` of them: the rest of one that unpacks to more is never read. Rejects with words for the model, or with the
 * signal's reason.
 */
export async function readBody(answer: IncomingMessage, mostMb: number, signal: AbortSignal): Promise<Buffer> {
  const pieces: Buffer[] = []
  let bytes = 0
  try {
    for await (const piece of decoded(answer) as AsyncIterable<Buffer>) {
      bytes += piece.length
      if (bytes > mostMb * MB) throw new TooLarge(`it is larger than ${mostMb} MB`)
      pieces.push(piece)
    }
  } catch (error) {
    if (signal.aborted) throw signal.reason
    if (error instanceof TooLarge) throw error
    throw new Error(`the answer broke off after ${bytes} bytes`, { cause: error })
  } finally {
    answer.destroy()
  }
  return Buffer.concat(pieces)
}

class TooLarge extends Error {}

function decoded(answer: IncomingMessage): Readable {
  const coding = (answer.headers['content-encoding'] ?? 'identity').trim().toLowerCase()
  if (coding === 'identity' || coding === '') return answer
  const { createBrotliDecompress, createUnzip } = process.getBuiltinModule('node:zlib')
  if (!/^(?:x-gzip|gzip|deflate|br)$/.test(coding)) throw new Error(`content-encoding ${coding} is not known`)
  // Whoever iterates hears of every error.
  return pipeline(answer, coding === 'br' ? createBrotliDecompress() : createUnzip(), () => undefined)
}
