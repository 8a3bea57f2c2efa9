import { createServer } from 'node:http'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { onTestFinished } from 'vitest'
import { mainContext, say } from './main-side.ts'
import type { WebAccess } from '../../src/tools/web-fetch/web-access.ts'
import { webFetch } from '../../src/tools/web-fetch.ts'

/** Lets a test reach its own server; every name stands for this machine. No setting leads to it. */
export const loopbackWeb: WebAccess = { lookup: () => Promise.resolve([{ address: '127.0.0.1', family: 4 }]), allows: (address) => address === '127.0.0.1' }

/** A real server on 127.0.0.1 for one test, and what it was asked for. */
export async function pageServer(handler: (request: IncomingMessage, response: ServerResponse) => void) {
  const asked: string[] = []
  const server = createServer((request, response) => {
    asked.push(request.url ?? '')
    handler(request, response)
  })
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  const { port } = server.address() as AddressInfo
  return { asked, port, url: `http://127.0.0.1:${port}/`, server }
}

/** A server that gives one answer to everything. */
export const serving = (body: string | Buffer, headers: Readonly<Record<string, string>> = {}, status = 200) =>
  pageServer((_, response) => void response.writeHead(status, headers).end(body))

/** What an agent gets for a URL. */
export const fetched = (url: string, { maxChars, web = loopbackWeb, signal }: { maxChars?: number; web?: WebAccess; signal?: AbortSignal } = {}): Promise<string> =>
  say(webFetch, { url, ...(maxChars !== undefined && { max_chars: maxChars }) }, mainContext({ root: '/', web, ...(signal && { signal }) }))
