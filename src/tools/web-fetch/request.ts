import type { IncomingMessage, RequestOptions } from 'node:http'
import type { LookupFunction } from 'node:net'
import { checkedHost } from './checked-host.ts'
import type { HostAddress, WebAccess } from './web-access.ts'

const HEADERS = {
  'user-agent': 'Cadre (coding agent)',
  'accept': 'text/markdown, text/html;q=0.9, application/xhtml+xml;q=0.9, text/*;q=0.8, application/json;q=0.8, */*;q=0.1',
  'accept-encoding': 'gzip, br, deflate',
} as const

/** Not by `import`, which would load Node's second HTTP client with it: 70 ms. */
const clientOf = (protocol: string) => process.getBuiltinModule(protocol === 'https:' ? 'node:https' : 'node:http')

/**
 * One GET, to an address that was checked, over a connection of its own and no proxy, which would look up the name again. Follows no redirect. Resolves with the head of
 * the answer; rejects with words for the model, or with the signal's reason.
 */
export async function request(url: URL, web: WebAccess, signal: AbortSignal): Promise<IncomingMessage> {
  const addresses = await checkedHost(url, web)
  signal.throwIfAborted()
  const { request: send, Agent } = clientOf(url.protocol)
  const options: RequestOptions = { method: 'GET', headers: HEADERS, agent: new Agent({ keepAlive: false }), lookup: alwaysTo(addresses), signal }
  return new Promise((resolve, reject) => {
    const sent = send(url, options)
    // Node's client keeps listening for late errors of a connection whose answer is being read; those come out of the answer as well.
    sent.on('error', (error) => reject(signal.aborted ? (signal.reason as Error) : new Error(`${url.host} cannot be reached: ${wordsOf(error)}`, { cause: error })))
    sent.once('response', resolve)
    sent.end()
  })
}

/** The connection's own lookup: it is told what was checked, and asks no one again. */
const alwaysTo = (addresses: readonly HostAddress[]): LookupFunction => (_host, options, callback) => {
  const first = addresses[0]
  if (options.all) callback(null, addresses.map(({ address, family }) => ({ address, family })))
  else callback(null, first?.address ?? '', first?.family)
}

/** When all addresses of a host refuse, Node's error has their messages inside and none of its own. */
const wordsOf = (error: Error): string =>
  error.message === '' && error instanceof AggregateError ? error.errors.map((one: unknown) => (one instanceof Error ? one.message : String(one))).join('; ') : error.message
