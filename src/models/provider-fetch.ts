import { bodyLimit } from './body-limit.ts'
import type { Fetch } from './call-fetch.ts'

type Sent = Parameters<Fetch>

/** Whether an answer says that it is plain JSON. */
export const isJson = (response: Response): boolean => /\bapplication\/json\b/i.test(response.headers.get('content-type') ?? '')

/**
 * fetch for everything that is sent to a provider. The body it brings is bounded (BODY_LIMITS_MB): over that, reading it fails with a
 * TryFailure of kind `oversize`, and the connection is closed. `onBytes` hears of the head and of every piece.
 */
export async function providerFetch(input: Sent[0], init: Sent[1], onBytes: (ok: boolean) => void = () => {}): Promise<Response> {
  const response = await fetch(input, init)
  onBytes(response.ok)
  if (response.body === null) return response
  // A stream under a wrong type is still read as one.
  const check = bodyLimit(response.ok && !isJson(response) ? 'stream' : 'whole')
  const body = response.body.pipeThrough(new TransformStream<Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>>({
    transform(piece, controller) {
      onBytes(response.ok)
      check(piece)
      controller.enqueue(piece)
    },
  }))
  return new Response(body, response)
}
