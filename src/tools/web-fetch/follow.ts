import type { IncomingMessage } from 'node:http'
import { request } from './request.ts'
import type { WebAccess } from './web-access.ts'

/** Redirects followed on one host. */
const MAX_REDIRECTS = 5
const REDIRECTS: readonly number[] = [301, 302, 303, 307, 308]

/** Where an answer came from; or the address on another host that one points to, which is for the agent to ask for. */
export type Followed = { readonly answer: IncomingMessage; readonly url: URL } | { readonly elsewhere: URL }

/** GETs a page and follows its redirects on the same host, each checked like the first (TOO-09). */
export async function follow(start: URL, web: WebAccess, signal: AbortSignal): Promise<Followed> {
  let url = start
  for (let redirects = 0; ; redirects += 1) {
    const answer = await request(url, web, signal)
    const location = REDIRECTS.includes(answer.statusCode ?? 0) ? answer.headers.location : undefined
    if (location === undefined) return { answer, url }
    answer.destroy()
    const next = resolved(location, url)
    if (next.hostname !== url.hostname) return { elsewhere: next }
    if (redirects === MAX_REDIRECTS) throw new Error(`${start.href} was redirected more than ${MAX_REDIRECTS} times`)
    url = next
  }
}

function resolved(location: string, from: URL): URL {
  // Node reads headers as Latin-1; the servers that put other characters there mean UTF-8.
  const text = Buffer.from(location, 'latin1').toString()
  if (!URL.canParse(text, from)) throw new Error(`${from.href} redirects to what is no address`)
  return fetchable(new URL(text, from))
}

/** Throws for a URL that is not fetched: another scheme, or a user and password in it. */
export function fetchable(url: URL): URL {
  if (url.protocol !== 'http:' && url.protocol !== 'https:') throw new Error(`Only http and https are fetched, not ${url.protocol}`)
  if (url.username !== '' || url.password !== '') throw new Error('A url with a user or password in it is not fetched. Leave them out.')
  return url
}
