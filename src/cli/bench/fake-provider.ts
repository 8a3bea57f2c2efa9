import { createServer } from 'node:http'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { text } from 'node:stream/consumers'
import type { JsonObject } from '../../core/json.ts'
import type { Asker, FanOut } from './fan-out-script.ts'
import { askerOf, CADRE_DIALECT, fanOutReply, resultsIn } from './fan-out-script.ts'
import { monotonicMs } from './monotonic.ts'
import type { ScriptedWire } from './wire.ts'
import { SCRIPTED_MODEL } from './wire.ts'

/** What was asked since the last `POST /reset`. Times in ms on the machine's monotonic clock, 0 before there is one. */
export type ProviderStats = {
  readonly requests: number
  /** First requests of children. */
  readonly children: number
  /** UTF-8 bytes of the first request of a child: its system text and tools, and all of it. */
  readonly firstChildBytes: number
  readonly firstChildBody: number
  readonly firstMs: number
  readonly lastMs: number
  /** Requests open at once, at most. */
  readonly maxOpen: number
  /** Requests that are no part of the fan-out: their method and path. */
  readonly others: readonly string[]
}

type Writable<T> = { -readonly [K in keyof T]: T[K] }

const nothingYet = (): Writable<ProviderStats> =>
  ({ requests: 0, children: 0, firstChildBytes: 0, firstChildBody: 0, firstMs: 0, lastMs: 0, maxOpen: 0, others: [] })

/** Longer than any run pauses: the server never closes a connection that its client is about to use. */
const KEEP_ALIVE_MS = 600_000

/**
 * A model provider with a script (FanOut), in a process of its own: it takes as little time as it can, since it shares the cores with what is
 * measured. Replies are built once and leave in one write. `POST /reset` takes a FanOut, `GET /stats` gives ProviderStats. Prints its URL as
 * the first line of stdout, and ends with stdin, so that it never outlives who started it.
 */
export function serveFakeProvider(wires: readonly ScriptedWire[]): void {
  let script: FanOut = { latencyMs: 0, files: [], dialect: CADRE_DIALECT }
  let replies = new Map<string, Buffer>()
  let stats = nothingYet()
  let open = 0

  function replyTo(wire: ScriptedWire, asker: Asker, results: number, streamed: boolean): Buffer {
    const key = `${wires.indexOf(wire)} ${asker?.kind} ${asker?.kind === 'parent' ? asker.children : ''} ${asker === null ? 0 : results} ${streamed}`
    const known = replies.get(key)
    if (known) return known
    const reply = Buffer.from(wire.reply(fanOutReply(asker, results, script), streamed))
    replies.set(key, reply)
    return reply
  }

  function count(wire: ScriptedWire, asker: Asker, results: number, body: string): void {
    stats.lastMs = monotonicMs()
    if (stats.requests === 0) stats.firstMs = stats.lastMs
    stats.requests += 1
    if (asker?.kind !== 'child' || results > 0) return
    stats.children += 1
    if (stats.children > 1) return
    const { system, tools } = wire.preamble(JSON.parse(body) as JsonObject)
    stats.firstChildBytes = bytesOf(system) + bytesOf(tools)
    stats.firstChildBody = Buffer.byteLength(body)
  }

  function answer(request: IncomingMessage, response: ServerResponse, body: string): void {
    const { method = '', url = '/' } = request
    const path = url.replace(/\?.*/, '')
    if (path === '/reset') {
      script = JSON.parse(body) as FanOut
      replies = new Map()
      stats = nothingYet()
      return send(response, JSON_TYPE, Buffer.from('{}'))
    }
    if (path === '/stats') return send(response, JSON_TYPE, Buffer.from(JSON.stringify(stats)))
    const wire = method === 'POST' ? wires.find((wire) => wire.path.test(path)) : undefined
    const asker = wire ? askerOf(body, script.dialect) : null
    if (asker === null) stats.others = [...stats.others, `${method} ${url}`]
    if (!wire) {
      const models = Buffer.from(JSON.stringify({ object: 'list', data: [{ id: SCRIPTED_MODEL, object: 'model', type: 'model' }] }))
      return send(response, JSON_TYPE, models)
    }
    const results = resultsIn(body, wire)
    if (asker) count(wire, asker, results, body)
    const streamed = body.includes('"stream":true')
    const reply = replyTo(wire, asker, results, streamed)
    open += 1
    stats.maxOpen = Math.max(stats.maxOpen, open)
    response.once('close', () => { open -= 1 })
    const go = () => send(response, streamed ? STREAM_TYPE : JSON_TYPE, reply)
    if (script.latencyMs > 0) setTimeout(go, script.latencyMs)
    else go()
  }

  const server = createServer({ keepAliveTimeout: KEEP_ALIVE_MS }, (request, response) => {
    text(request).then((body) => answer(request, response, body)).catch((error: unknown) => {
      response.writeHead(500, { 'content-type': JSON_TYPE }).end(JSON.stringify({ error: { message: String(error) } }))
    })
  })
  server.listen(0, '127.0.0.1', () => {
    const address = server.address()
    if (address !== null && typeof address === 'object') process.stdout.write(`http://127.0.0.1:${address.port}\n`)
  })
  process.on('SIGINT', () => undefined) // a terminal sends it to both: who started this one decides when it ends
  process.stdin.resume().on('end', () => process.exit())
}

const JSON_TYPE = 'application/json'
const STREAM_TYPE = 'text/event-stream; charset=utf-8'

function send(response: ServerResponse, type: string, body: Buffer): void {
  response.writeHead(200, { 'content-type': type, 'content-length': body.length })
  response.end(body)
}

/** A text as it is; anything else as JSON; nothing is 0. */
function bytesOf(part: unknown): number {
  if (part === undefined || part === null) return 0
  return Buffer.byteLength(typeof part === 'string' ? part : JSON.stringify(part))
}
