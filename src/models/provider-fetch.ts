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
  const body = response.body.pipeThrough(new TransformStream<Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>>({
    transform(piece, controller) {
      onBytes(response.ok)
      check(piece)
      controller.enqueue(piece)
    },
  }))
  return new Response(body, response)
}

/** Names where the redirect leads by its origin alone: the rest can hold anything. */
function redirected({ status, headers, url }: Response): TryFailure {
  const location = headers.get('location')
  const target = location === null ? null : URL.parse(location, url)
  const where = location === null ? 'an address it does not name' : (target?.host ? `${target.protocol}//${target.host}` : 'no web address')
  return new TryFailure(`a redirect (${status}) to ${where}`, { kind: 'redirect', status, usage: NO_USAGE })
}
