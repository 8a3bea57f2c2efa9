import { once } from 'node:events'
import { createServer } from 'node:net'
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { httpFetch } from '../../src/models/http-fetch.ts'
import { ask, modelsAt, server } from './ask.ts'
import { rawServer } from './raw-server.ts'

const BODY = 'data: ünï\n\n'.repeat(5_000)

/** The whole body of an answer, and in how many pieces it came. */
async function read(url: string): Promise<{ readonly text: string; readonly pieces: number }> {
  const reader = (await httpFetch(url, {})).body.getReader()
  const pieces: Uint8Array[] = []
  for (let next = await reader.read(); !next.done; next = await reader.read()) pieces.push(next.value)
  return { text: Buffer.concat(pieces).toString(), pieces: pieces.length }
}

describe('connections to a provider', () => {
  test('are used again: a hundred agents with four calls each need a hundred at most', async () => {
    const lines = new Set<unknown>()
    const raw = await rawServer((response) => {
      lines.add(response.socket)
      response.end('x')
    })
    for (let turn = 0; turn < 4; turn += 1) await Promise.all(Array.from({ length: 100 }, () => read(raw.url)))
    expect(raw.count()).toBe(400)
    expect(lines.size).toBeLessThanOrEqual(100)
  })

  test('that the server closes while they are idle are not used again', async () => {
    const raw = await rawServer((response) => {
      response.end('x')
      response.socket?.end()
    })
    for (let i = 0; i < 5; i += 1) {
      expect((await read(raw.url)).text).toBe('x')
      await new Promise(setImmediate)
    }
  })

  test('that never come to be are given up after 10 s', async () => {
    const silent = createServer(() => {}).listen(0, '127.0.0.1')
    await once(silent, 'listening')
    onTestFinished(() => void silent.close())
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    onTestFinished(() => void vi.useRealTimers())
    const address = silent.address()
    const asked = httpFetch(`https://127.0.0.1:${typeof address === 'object' ? address?.port : 0}/`, {})
    const connection = once(silent, 'connection')
    await connection
    vi.advanceTimersByTime(10_000)
    await expect(asked).rejects.toMatchObject({ kind: 'network', message: 'no connection within 10 s' })
  })

  test('that are refused at all addresses of a host say so', async () => {
    const closed = createServer().listen(0, '127.0.0.1')
    await once(closed, 'listening')
    const address = closed.address()
    closed.close()
    await once(closed, 'close')
    await expect(httpFetch(`http://localhost:${typeof address === 'object' ? address?.port : 0}/`, {})).rejects.toThrow('ECONNREFUSED')
  })
})

test('a server that speaks no HTTP, or no TLS, is the network\'s fault: tried again, and told as such', async () => {
  const other = createServer((socket) => void socket.end('220 mail.example ready\r\n')).listen(0, '127.0.0.1')
  await once(other, 'listening')
  onTestFinished(() => void other.close())
  const address = other.address()
  const place = `127.0.0.1:${typeof address === 'object' ? address?.port : 0}`
  for (const url of [`http://${place}`, `https://${place}`]) {
    const pauses: string[] = []
    const model = modelsAt(url, { maxTries: 2, onPause: ({ reason }) => void pauses.push(reason) }).open('anthropic/m')
    await expect(ask(model)).rejects.toThrow(`Check the network, and the address ${url}/v1 of provider anthropic.`)
    expect(pauses).toHaveLength(1)
  }
})

test('a server that changes the protocol instead of answering ends the call', async () => {
  const raw = await rawServer((response) => void response.socket?.end('HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n'))
  await expect(httpFetch(raw.url, {})).rejects.toMatchObject({ kind: 'network' })
})

describe('a body', () => {
  const codings = [['gzip', gzipSync], ['deflate', deflateSync], ['br', brotliCompressSync]] as const
  test.each(codings)('that is compressed (%s) though it was asked for as it is can be read', async (coding, compress) => {
    const raw = await rawServer((response, request) => {
      expect(request.headers['accept-encoding']).toBe('identity')
      response.writeHead(200, { 'content-encoding': coding }).end(compress(BODY))
    })
    expect((await read(raw.url)).text).toBe(BODY)
  })

  test('whose compression is broken is an error, not half a body', async () => {
    const raw = await rawServer((response) => void response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync(BODY).subarray(0, 40)))
    await expect(read(raw.url)).rejects.toThrow('unexpected end of file')
  })

  test('that breaks off is an error, not half a body', async () => {
    const raw = await rawServer((response) => {
      response.writeHead(200, { 'content-length': 1_000 }).write('half')
      setImmediate(() => response.destroy())
    })
    await expect(read(raw.url)).rejects.toThrow('aborted')
  })

  test('whose small chunks come together is read in few pieces', async () => {
    const raw = await rawServer((response) => {
      response.cork()
      for (let i = 0; i < 200; i += 1) response.write(`data: ${i}\n\n`)
      response.end()
    })
    const { text, pieces } = await read(raw.url)
    expect(text).toContain('data: 199')
    expect(pieces).toBeLessThan(20)
  })

  test('that is given up frees its line', async () => {
    const raw = await rawServer((response) => void response.writeHead(200, { 'content-encoding': 'gzip' }).write(gzipSync(BODY).subarray(0, 40)))
    await (await httpFetch(raw.url, {})).body.getReader().cancel()
    await expect.poll(raw.hungUp).toBe(1)
  })
})

test('a signal that is aborted before a call, or while it waits, ends it with its reason', async () => {
  const raw = await rawServer(() => {})
  const reason = new Error('enough')
  await expect(httpFetch(raw.url, { signal: AbortSignal.abort(reason) })).rejects.toBe(reason)
  const stop = new AbortController()
  const asked = httpFetch(raw.url, { signal: stop.signal })
  await expect.poll(raw.count).toBe(1)
  stop.abort(reason)
  await expect(asked).rejects.toBe(reason)
  await expect.poll(raw.hungUp).toBe(1)
})

test('a prompt beyond ASCII arrives whole', async () => {
  const { url, requests } = await server(() => ({ text: 'ok' }))
  const text = 'Grüße, 世界 🌍 '.repeat(500)
  await ask(modelsAt(url).open('anthropic/scripted'), { messages: [{ role: 'user', text }] })
  expect(requests[0]?.request?.lastUserText).toBe(text)
})
