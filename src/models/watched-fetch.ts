import type { Answer } from './http-fetch.ts'
import { type Fetch, isJson, providerFetch } from './provider-fetch.ts'

/** Thrown through a provider package that asked for a stream, when the server answered with a whole body instead. */
export class PlainReply extends Error {
  readonly answer: Answer

  constructor(answer: Answer) {
    super('The server answered a streaming request with a plain reply.')
    this.answer = answer
  }
}

/**
 * providerFetch for one streaming call. `onBytes` hears of the response's head and of every piece of its body, also of comments that keep a
 * line alive, which no package passes on. A good reply that is no event stream is thrown as PlainReply, so that it is read as what it is
 * without a second request.
 */
export function watchedFetch(onBytes: (ok: boolean) => void): Fetch {
  return async (url, sent) => {
    const answer = await providerFetch(url, sent, onBytes)
    if (answer.ok && isJson(answer)) throw new PlainReply(answer)
    return answer
  }
}
