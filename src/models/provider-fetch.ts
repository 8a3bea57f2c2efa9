import { NO_USAGE } from '../core/contract.ts'
import { bodyLimit } from './body-limit.ts'
import { type Answer, type Body, httpFetch, type Sent } from './http-fetch.ts'
import { TryFailure } from './try-failure.ts'

/** How everything is sent to a provider. */
export type Fetch = (url: string, sent: Sent) => Promise<Answer>

/** Whether an answer says that it is plain JSON. */
export const isJson = ({ headers }: Answer): boolean => /\bapplication\/json\b/i.test(headers.get('content-type') ?? '')

/**
 * The Fetch for all providers. The body it brings is bounded (BODY_LIMITS_MB): over that, reading it fails with a TryFailure of kind
 * `oversize`, and the connection is closed. No redirect is followed: the key's header and the prompt would go to whatever host it names. It
 * rejects with a TryFailure of kind `redirect`. `onBytes` hears of the head and of every piece.
 */
export async function providerFetch(url: string, sent: Sent, onBytes: (ok: boolean) => void = () => {}): Promise<Answer> {
  const answer = await httpFetch(url, sent)
  if (answer.status >= 300 && answer.status < 400) {
    await answer.body.getReader().cancel()
    throw redirected(answer)
  }
  onBytes(answer.ok)
  // A stream under a wrong type is still read as one.
  const check = bodyLimit(answer.ok && !isJson(answer) ? 'stream' : 'whole')
  return { ...answer, body: watched(answer.body, (piece) => {
    onBytes(answer.ok)
    check(piece)
  }) }
}

/** A body that shows each piece to `look` before it gives it on; what `look` throws ends both. */
const watched = (body: Body, look: (piece: Uint8Array) => void): Body => ({
  getReader() {
    const pieces = body.getReader()
    return {
      ...pieces,
      async read() {
        const next = await pieces.read()
        if (next.done) return next
        try {
          look(next.value)
        } catch (error) {
          await pieces.cancel(error)
          throw error
        }
        return next
      },
    }
  },
})

/** Names where the redirect leads by its origin alone: the rest can hold anything. */
function redirected({ status, headers, url }: Answer): TryFailure {
  const location = headers.get('location')
  const target = location === undefined ? null : URL.parse(location, url)
  const where = location === undefined ? 'an address it does not name' : (target?.host ? `${target.protocol}//${target.host}` : 'no web address')
  return new TryFailure(`a redirect (${status}) to ${where}`, { kind: 'redirect', status, usage: NO_USAGE })
}
