import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { setTimeout as delay } from 'node:timers/promises'
import { isObject, type JsonObject } from '../../src/core/json.ts'
import { anthropicWire } from './anthropic-wire.ts'
import { completeAnswer, type Script, type ScriptRequest } from './answer.ts'
import { modelList } from './model-list.ts'
import { openaiWire } from './openai-wire.ts'
import { sendAnswer } from './send-answer.ts'
import type { WireFormat } from './wire-format.ts'

export type { Answer, Script, ScriptRequest, Wire } from './answer.ts'

/** One request as it arrived. `text` is the body byte for byte; `startedMs` and `endedMs` are on the clock of `performance.now()`. */
export type RecordedRequest = {
  readonly method: string
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly text: string
  readonly body: JsonObject
  /** What the script saw; null for model lists. */
  readonly request: ScriptRequest | null
  readonly startedMs: number
  /** When the reply was sent or the line was gone; null while it is open. */
  readonly endedMs: number | null
  /** True when the client hung up before the reply was whole. */
  readonly aborted: boolean
}

export type ProviderServerOptions = {
  readonly script: Script
  /** What the model lists name (`scripted-model`). */
  readonly models?: readonly string[]
  /** 0, the default, takes a free port. */
  readonly port?: number
  /** false keeps no requests: for long benches (true). */
  readonly record?: boolean
}

export type ProviderServer = { readonly url: string; readonly requests: readonly RecordedRequest[]; close(): Promise<void> }

type Writable<T> = { -readonly [K in keyof T]: T[K] }

/** Longer than any test or bench pauses, so that the server never closes a connection the client is about to use. */
const KEEP_ALIVE_MS = 120_000

/**
 * A scripted model provider on 127.0.0.1: Anthropic Messages and OpenAI Chat Completions, streamed and plain, and the model lists of both,
 * Ollama and LM Studio. Paths may have any prefix. `url` has no trailing slash and no `/v1`.
 */
export async function startProviderServer(options: ProviderServerOptions): Promise<ProviderServer> {
  const requests: RecordedRequest[] = []
  const closing = new AbortController()
  let serial = 0

  const answer = async (incoming: IncomingMessage, response: ServerResponse): Promise<void> => {
    const startedMs = performance.now()
    const text = await readBody(incoming)
    const headers = flatten(incoming)
    const path = new URL(incoming.url ?? '/', 'http://127.0.0.1').pathname
    const body = parseObject(text)
    const wire = incoming.method === 'POST' ? wireOf(path) : null
    const read = wire && body ? wire.read(body) : null
    const seen = wire && body && read ? { wire: wire.name, body, headers, ...read, task: taskOf(read.lastUserText) } : null
    const record: Writable<RecordedRequest> = {
      method: incoming.method ?? '', path, headers, text, body: body ?? {}, request: seen, startedMs, endedMs: null, aborted: false,
    }
    if (options.record !== false) requests.push(record)
    const gone = new AbortController()
    response.once('close', () => {
      record.endedMs = performance.now()
      record.aborted = !response.writableFinished
      gone.abort()
    })
    if (!wire || !seen) {
      const list = incoming.method === 'GET' ? modelList(path, headers, options.models ?? ['scripted-model']) : null
      const status = list ? 200 : wire ? 400 : 404
      const problem = wire ? 'The body is not a JSON object.' : `No such path: ${incoming.method} ${path}`
      sendJson(response, status, list ?? (wire ?? openaiWire).error(status, problem))
      return
    }
    const signal = AbortSignal.any([gone.signal, closing.signal])
    let scripted
    try {
      scripted = await options.script(seen)
    } catch (error) {
      sendJson(response, 400, wire.error(400, `The script failed: ${error instanceof Error ? error.message : String(error)}`))
      return
    }
    if (scripted.latencyMs) await delay(scripted.latencyMs, undefined, { signal })
    serial += 1
    await sendAnswer(response, wire, scripted, completeAnswer(scripted, { body: seen.body, bytes: text.length }, serial), seen.body, signal)
  }

  const server = createServer({ keepAliveTimeout: KEEP_ALIVE_MS }, (incoming, response) => {
    answer(incoming, response).catch((error: unknown) => {
      // A client that hung up ends the waiting here; anything else is a fault of the server, and the test must see it.
      if (!response.destroyed && !closing.signal.aborted) response.destroy(error instanceof Error ? error : undefined)
    })
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(options.port ?? 0, '127.0.0.1', resolve)
  })
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('The provider server has no port.')
  return {
    url: `http://127.0.0.1:${address.port}`,
    requests,
    async close() {
      closing.abort()
      const closed = new Promise<void>((resolve) => void server.close(() => resolve()))
      server.closeAllConnections()
      await closed
    },
  }
}

/** `Folder: …`, more lines, a blank one: PRO-01. */
const taskOf = (text: string): string => text.replace(/^Folder: .*\n(?:.+\n)*\n/, '')

function wireOf(path: string): WireFormat | null {
  if (path.endsWith('/v1/messages')) return anthropicWire
  return path.endsWith('/v1/chat/completions') ? openaiWire : null
}

async function readBody(incoming: IncomingMessage): Promise<string> {
  const parts: Buffer[] = []
  for await (const part of incoming) parts.push(Buffer.from(part))
  return Buffer.concat(parts).toString('utf8')
}

function parseObject(text: string): JsonObject | null {
  try {
    const value: unknown = JSON.parse(text)
    return isObject(value) ? value : null
  } catch {
    return null
  }
}

const flatten = (incoming: IncomingMessage): Readonly<Record<string, string>> =>
  Object.fromEntries(Object.entries(incoming.headers).map(([name, value]) => [name, Array.isArray(value) ? value.join(', ') : (value ?? '')]))

function sendJson(response: ServerResponse, status: number, body: JsonObject): void {
  response.writeHead(status, { 'content-type': 'application/json' })
  response.end(JSON.stringify(body))
}
