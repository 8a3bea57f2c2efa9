import { once } from 'node:events'
import type { ServerResponse } from 'node:http'
import { setTimeout as delay } from 'node:timers/promises'
import type { JsonObject } from '../../src/core/json.ts'
import type { Answer, FullAnswer } from './answer.ts'
import type { WireFormat } from './wire-format.ts'

/** What was sent must be read before the line goes: a broken line discards what waits, and `mid-stream` would be like `before`. In ms. */
const ARRIVAL_MS = 10

const BROKEN_EVENT = 'data: {"type": "content_block_delta", "delta": {"te\n\n'

/** Writes one answer, with whatever the script wants to go wrong. Rejects with the signal's reason when the client hangs up meanwhile. */
export async function sendAnswer(
  response: ServerResponse, wire: WireFormat, answer: Answer, full: FullAnswer, body: JsonObject, signal: AbortSignal,
): Promise<void> {
  if (answer.drop === 'before') return void response.destroy()
  if (answer.silent === true) return hang(signal)
  const status = answer.status ?? 200
  if (status !== 200) return sendWhole(response, status, answer, JSON.stringify(wire.error(status, answer.text ?? `scripted ${status}`)))
  if (answer.malformed === 'json') return sendWhole(response, 200, answer, '<html><body>Bad gateway</body></html>')
  if (body['stream'] !== true || answer.plain) return sendPlain(response, answer, JSON.stringify(wire.json(full)), signal)

  response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-cache', ...answer.headers })
  const events = wire.events(full, body)
  const half = Math.ceil(events.length / 2)
  for (const event of events.slice(0, half)) await write(response, event, answer, signal)
  if (answer.drop === 'mid-stream') {
    await delay(ARRIVAL_MS, undefined, { signal })
    return void response.destroy()
  }
  if (answer.silent === 'mid-stream') return hang(signal)
  if (answer.malformed === 'chunk') await write(response, BROKEN_EVENT, answer, signal)
  if (answer.streamError !== undefined) {
    response.end(wire.streamError(answer.streamError))
    return
  }
  for (const event of events.slice(half)) await write(response, event, answer, signal)
  response.end(wire.end)
}

function sendWhole(response: ServerResponse, status: number, answer: Answer, text: string): void {
  response.writeHead(status, { 'content-type': 'application/json', ...answer.headers })
  response.end(text)
}

async function sendPlain(response: ServerResponse, answer: Answer, text: string, signal: AbortSignal): Promise<void> {
  const broken = answer.drop === 'mid-stream' || answer.silent === 'mid-stream' || answer.malformed === 'chunk'
  if (!broken) return sendWhole(response, 200, answer, text)
  const half = text.slice(0, text.length / 2)
  if (answer.malformed === 'chunk') return sendWhole(response, 200, answer, half)
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text), ...answer.headers })
  response.write(half)
  if (answer.silent) return hang(signal)
  await delay(ARRIVAL_MS, undefined, { signal })
  response.destroy()
}

async function write(response: ServerResponse, event: string, answer: Answer, signal: AbortSignal): Promise<void> {
  if (answer.chunkMs) await delay(answer.chunkMs, undefined, { signal })
  if (!response.write(event)) await once(response, 'drain', { signal })
}

function hang(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    const give = (): void => reject(signal.reason instanceof Error ? signal.reason : new Error('hung up'))
    if (signal.aborted) give()
    else signal.addEventListener('abort', give, { once: true })
  })
}
