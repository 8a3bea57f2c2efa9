import type { IncomingMessage, RequestOptions } from 'node:http'
import { pipeline, type Readable } from 'node:stream'
import { NO_USAGE } from '../core/contract.ts'
import { messageOf } from '../core/errors.ts'
import { TryFailure } from './try-failure.ts'

/** What is sent to a provider. */
export type Sent = {
  readonly method?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
  readonly signal?: AbortSignal | null
}

/** The part of a fetch's Response that the provider packages touch. `url`: what was asked, since no redirect is followed. */
export type Answer = {
  readonly ok: boolean
  readonly status: number
  readonly statusText: string
  readonly url: string
  readonly headers: ReadonlyMap<string, string>
  readonly body: Body
}

/** A body as the packages read it: once, by a reader. */
export type Body = { getReader(): BodyReader }
export type BodyReader = {
  /** Rejects when the line broke before the body was whole. */
  read(): Promise<{ readonly done: false; readonly value: Uint8Array } | { readonly done: true; readonly value?: undefined }>
  /** Gives the body up, and with it the connection unless all was read. */
  cancel(reason?: unknown): Promise<void>
  releaseLock(): void
}

/** As long as fetch waits for a connection, in ms: a try that gets none fails long before it counts as silent. */
const CONNECT_TIMEOUT_MS = 10_000

/** Not by `import`: that reads all that `node:http` exports, WebSocket too, for which Node loads a second client: 70 ms of CPU on two slow cores. */
const clientOf = (protocol: string) => process.getBuiltinModule(protocol === 'https:' ? 'node:https' : 'node:http')

/**
 * One request over Node's own client, at a third of what fetch costs, with its shared agent: idle connections are used again, and proxies are
 * those Node is told to use. Follows no redirect. Resolves when the head of the answer is there; rejects with a TryFailure of kind `network`
 * for whatever kept it from coming, a certificate or a server of another protocol included, or with the signal's reason.
 */
export async function httpFetch(url: string, what: Sent): Promise<Answer> {
  const { method = 'GET', headers = {}, body, signal } = what
  signal?.throwIfAborted()
  const { protocol } = new URL(url)
  const { request, globalAgent } = clientOf(protocol)
  const options: RequestOptions = {
    method,
    agent: globalAgent,
    headers: { accept: '*/*', 'accept-encoding': 'identity', ...headers, ...(body === undefined ? {} : { 'content-length': Buffer.byteLength(body) }) },
  }
  return new Promise((resolve, reject) => {
    const sent = request(url, options)
    let answered = false
    const abort = (): void => {
      reject(signal?.reason as Error)
      sent.destroy()
    }
    signal?.addEventListener('abort', abort, { once: true })
    const fail = (why: string): void => reject(new TryFailure(why, { kind: 'network', usage: NO_USAGE }))
    sent.once('close', () => {
      signal?.removeEventListener('abort', abort)
      if (!answered) fail('the line was closed without an answer') // also one that wants to speak another protocol from here on
    })
    sent.on('error', (error) => {
      // The server closed an idle connection just when it was used again: it has not heard the request.
      if (sent.reusedSocket && !answered && codeOf(error) === 'ECONNRESET' && !signal?.aborted) resolve(httpFetch(url, what))
      else fail(wordsOf(error))
    })
    sent.once('socket', (socket) => {
      if (!socket.connecting) return
      const late = setTimeout(() => void sent.destroy(notConnected()), CONNECT_TIMEOUT_MS)
      const done = (): void => clearTimeout(late)
      socket.once(protocol === 'https:' ? 'secureConnect' : 'connect', done)
      sent.once('close', done)
    })
    sent.once('response', (response) => {
      answered = true
      resolve(answerOf(url, response))
    })
    sent.end(body)
  })
}

const notConnected = (): Error => new Error(`no connection within ${CONNECT_TIMEOUT_MS / 1_000} s`)

function answerOf(url: string, response: IncomingMessage): Answer {
  const { statusCode: status = 0, statusMessage: statusText = '' } = response
  const headers = new Map(Object.entries(response.headers).map(([name, value]) => [name, Array.isArray(value) ? value.join(', ') : (value ?? '')]))
  return { ok: status >= 200 && status < 300, status, statusText, url, headers, body: { getReader: () => readerOf(plain(response)) } }
}

/** Some servers compress an answer that was asked for as it is. */
function plain(response: IncomingMessage): Readable {
  const coding = response.headers['content-encoding']?.toLowerCase() ?? ''
  if (!/^(?:x-)?(?:gzip|deflate|br)$/.test(coding)) return response
  const { createBrotliDecompress, createUnzip } = process.getBuiltinModule('node:zlib')
  // The reader hears of every error; whichever side ends first, the other one does.
  return pipeline(response, coding === 'br' ? createBrotliDecompress() : createUnzip(), () => {})
}

/** All that came in one turn of the event loop is one piece. */
function readerOf(source: Readable): BodyReader {
  let broken: Error | null = null
  let wake = (): void => {}
  const stir = (): void => wake()
  source.on('readable', stir).on('end', stir).on('close', stir).on('error', (error) => {
    broken = error
    stir()
  })
  return {
    async read() {
      for (;;) {
        const value = source.read() as Buffer | null
        if (value !== null) return { done: false, value }
        if (source.readableEnded) return { done: true }
        if (broken) throw broken
        if (source.destroyed) throw new Error('the line was closed')
        await new Promise<void>((resolve) => { wake = resolve })
      }
    },
    cancel() {
      if (!source.readableEnded) source.destroy()
      return Promise.resolve()
    },
    releaseLock() {},
  }
}

/** When all addresses of a host refuse, Node's error has their messages inside and none of its own. */
const wordsOf = (error: Error): string =>
  error.message === '' && error instanceof AggregateError ? error.errors.map(messageOf).join('; ') : messageOf(error)

const codeOf = (error: Error): unknown => ('code' in error ? error.code : undefined)
