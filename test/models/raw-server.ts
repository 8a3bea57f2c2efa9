import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { setImmediate as turn } from 'node:timers/promises'
import { onTestFinished } from 'vitest'

export type RawServer = {
  readonly url: string
  /** Requests so far. */
  readonly count: () => number
  /** Answers whose line the client closed before the server was done. */
  readonly hungUp: () => number
}

/** A server on 127.0.0.1 that answers each request as `answer` does, for wires no provider would speak. It ends with the test. */
export async function rawServer(answer: (response: ServerResponse, request: IncomingMessage) => void | Promise<void>): Promise<RawServer> {
  let count = 0
  let hungUp = 0
  const raw = createServer((incoming, response) => {
    incoming.resume()
    count += 1
    response.once('close', () => { if (!response.writableFinished) hungUp += 1 })
    // Nothing else can be told of an answer nobody reads on.
    Promise.resolve(answer(response, incoming)).catch(() => void response.destroy())
  }).listen(0, '127.0.0.1')
  await once(raw, 'listening')
  onTestFinished(() => {
    raw.closeAllConnections()
    raw.close()
  })
  const address = raw.address()
  return { url: `http://127.0.0.1:${typeof address === 'object' ? address?.port : 0}`, count: () => count, hungUp: () => hungUp }
}

/** Writes `piece` over and over, as fast as it is read, until the client hangs up: an answer without an end. */
export async function writeForEver(response: ServerResponse, piece: string): Promise<void> {
  while (!response.destroyed) {
    if (response.write(piece)) await turn()
    else await new Promise<void>((resolve) => {
      const go = (): void => {
        response.off('drain', go).off('close', go)
        resolve()
      }
      response.on('drain', go).on('close', go)
    })
  }
}
