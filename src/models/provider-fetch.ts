import { NO_USAGE } from '../core/contract.ts'
import { bodyLimit } from './body-limit.ts'
import { TryFailure } from './try-failure.ts'

export type Fetch = typeof globalThis.fetch

type Sent = Parameters<Fetch>

/** Whether an answer says that it is plain JSON. */
export const isJson = (response: Response): boolean => /\bapplication\/json\b/i.test(response.headers.get('content-type') ?? '')

/**
 * fetch for everything that is sent to a provider. The body it brings is bounded (BODY_LIMITS_MB): over that, reading it fails with a
 * TryFailure of kind `oversize`, and the connection is closed. No redirect is followed: fetch would send the key's header and the prompt to
 * whatever host it names. It rejects with a TryFailure of kind `redirect`. `onBytes` hears of the head and of every piece.
 */
export async function providerFetch(input: Sent[0], init: Sent[1], onBytes: (ok: boolean) => void = () => {}): Promise<Response> {
  const response = await fetch(input, { ...init, redirect: 'manual' })
  if (response.status >= 300 && response.status < 400) {
    await response.body?.cancel()
    throw redirected(response)
  }
  onBytes(response.ok)
  if (response.body === null) return response
  // A stream under a wrong type is still read as one.
  const check = bodyLimit(response.ok && !isJson(response) ? 'stream' : 'whole')
  return new Response(through(response.body, (piece) => {
    onBytes(response.ok)
    check(piece)
  }), response)
}

type Bytes = ReadableStream<Uint8Array<ArrayBuffer>>

/** A body that shows each piece to `look` before it gives it on; what `look` throws ends both. By hand: a TransformStream costs three times as much. */
function through(body: Bytes, look: (piece: Uint8Array) => void): Bytes {
  const pieces = body.getReader()
  return new ReadableStream({
    async pull(controller) {
      const { done, value } = await pieces.read()
      if (done) return controller.close()
      try {
        look(value)
      } catch (error) {
        await pieces.cancel(error).catch(() => {}) // the connection is gone either way
        throw error
      }
      controller.enqueue(value)
    },
    cancel: (reason) => pieces.cancel(reason),
  }, { highWaterMark: 0 })
}

/** Names where the redirect leads by its origin alone: the rest can hold anything. */
function redirected({ status, headers, url }: Response): TryFailure {
  const location = headers.get('location')
  const target = location === null ? null : URL.parse(location, url)
  const where = location === null ? 'an address it does not name' : (target?.host ? `${target.protocol}//${target.host}` : 'no web address')
  return new TryFailure(`a redirect (${status}) to ${where}`, { kind: 'redirect', status, usage: NO_USAGE })
}
