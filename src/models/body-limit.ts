import { NO_USAGE } from '../core/contract.ts'
import { TryFailure } from './try-failure.ts'

/** Bytes in an MB. */
const MB = 1_000_000

/**
 * How much one answer of a provider may bring, in MB. An event, or a body that is no stream, is parsed in one go on the main thread (about
 * 0.1 s for each MB) and is at most as long as the reply itself: 128,000 tokens are about 0.5 MB. A stream is mostly framing, up to 350
 * bytes for each token: 45 MB for the longest replies there are.
 */
const BODY_LIMITS_MB = { event: 4, whole: 4, stream: 64 } as const

const LF = 10
const CR = 13

/** A check to be called with every piece of one body, in order. It throws a TryFailure of kind `oversize` once the body is too long. */
export function bodyLimit(kind: 'stream' | 'whole'): (piece: Uint8Array) => void {
  let total = 0
  let event = 0
  let line = 0
  let last = 0

  /** An event ends with a blank line. Lone CRs end none here: a server that writes those has `event` for all it says. */
  const countEvents = (piece: Uint8Array): void => {
    let start = 0
    for (let at = piece.indexOf(LF); at !== -1; at = piece.indexOf(LF, start)) {
      line += at - start
      event += at + 1 - start
      const before = at > 0 ? piece[at - 1] : last
      if (line === 0 || (line === 1 && before === CR)) event = 0
      line = 0
      start = at + 1
    }
    line += piece.length - start
    event += piece.length - start
    last = piece.at(-1) ?? last
  }

  return (piece) => {
    total += piece.length
    if (total > BODY_LIMITS_MB[kind] * MB) {
      throw oversize(`${kind === 'stream' ? 'the streamed reply' : 'the body of the answer'} is over ${BODY_LIMITS_MB[kind]} MB`)
    }
    if (kind === 'whole') return
    countEvents(piece)
    if (event > BODY_LIMITS_MB.event * MB) throw oversize(`one event of the streamed reply is over ${BODY_LIMITS_MB.event} MB`)
  }
}

/** The failure of a reply that was cut off because it is too large; `what` says what is, and over how much. */
export const oversize = (what: string): TryFailure => new TryFailure(`${what}, and was cut off`, { kind: 'oversize', usage: NO_USAGE })
