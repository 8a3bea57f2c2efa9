import { once } from 'node:events'
import { createServer } from 'node:net'
import type { AddressInfo } from 'node:net'
import { brotliCompressSync, constants, deflateSync, gzipSync } from 'node:zlib'
import { describe, expect, onTestFinished, test } from 'vitest'
import { publicWeb } from '../../src/tools/web-fetch/public-web.ts'
import { fetched, loopbackWeb, pageServer, serving } from './page-server.ts'

const HTML = { 'content-type': 'text/html; charset=utf-8' }
/** At its usual quality it packs for seconds. */
const quickBrotli = (bytes: Buffer | string) => brotliCompressSync(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 1 } })
const TEXT = { 'content-type': 'text/plain' }

describe('TOO-09: what comes of a page', () => {
  test('HTML becomes Markdown, with absolute links and without scripts', async () => {
    const { url } = await serving(
      '<html><head><title>Title</title><style>b {}</style></head><body><h1>Head</h1><script>alert(1)</script><p>One <a href="/two?x=1">two</a> <b>thrée</b>' +
        '<a href="javascript:alert(1)">four</a></p><ul><li>a</li></ul><pre><code>x = 1\n</code></pre><table><tr><th>k</th><th>v</th></tr><tr><td>a</td><td>1</td></tr></table></body></html>',
      HTML,
    )
    const text = await fetched(`${url}docs/page`)
    expect(text).toContain(`# Head\n\nOne [two](${url}two?x=1) **thrée**four`)
    expect(text).toContain('```\nx = 1\n```')
    expect(text).toMatch(/\| k +\| v +\|\n\| -+ \| -+ \|\n\| a +\| 1 +\|/)
    expect(text).not.toMatch(/alert|b \{\}/)
  })

  const asTheyAre: readonly [string, string | undefined][] = [
    ['plain text', 'text/plain'], ['JSON', 'application/json; charset=utf-8'], ['a JSON dialect', 'application/problem+json'], ['Markdown', 'text/markdown'],
    ['XML', 'application/xml'], ['JavaScript', 'text/javascript'], ['text without a type', undefined], ['text with a broken type', 'nonsense'],
  ]
  for (const [what, type] of asTheyAre) {
    test(`${what} stays as it is`, async () => {
      const body = '{"a": "<b>é</b>"}\n'
      const { url } = await serving(body, type === undefined ? {} : { 'content-type': type })
      expect(await fetched(url)).toBe(body)
    })
  }

  for (const [type, size] of [['image/png', '5 bytes'], ['application/pdf', '5 bytes'], ['application/octet-stream', '5 bytes'], ['image/svg+xml', '5 bytes']] as const) {
    test(`${type} is refused with its size`, async () => {
      const { url } = await serving('abcde', { 'content-type': type, 'content-length': '5' })
      expect(await fetched(url)).toBe(`Error: ${url} is ${type} (${size}): only text is fetched`)
    })
  }

  test('bytes that are no text are refused whatever their type says', async () => {
    const { url } = await serving(Buffer.from('a\0b'), TEXT)
    expect(await fetched(url)).toBe(`Error: ${url} is binary, text/plain (3 bytes): only text is fetched`)
  })

  const latin1 = Buffer.from('<p>Stra\u00dfe</p>', 'latin1')
  const encodings: readonly [string, string | Buffer, string][] = [
    ['the header', latin1, 'text/html; charset=ISO-8859-1'],
    ['a quoted header', latin1, 'text/html; charset="latin1"'],
    ['a meta tag', Buffer.concat([Buffer.from('<meta charset=windows-1252>'), latin1]), 'text/html'],
    ['an older meta tag', Buffer.concat([Buffer.from('<meta http-equiv="Content-Type" content="text/html; charset=iso-8859-1">'), latin1]), 'text/html'],
    ['a byte order mark', Buffer.from('\u{feff}<p>Stra\u00dfe</p>', 'utf16le'), 'text/html'],
    ['nothing: UTF-8', '<p>Stra\u00dfe</p>', 'text/html'],
    ['a header with an unknown name: UTF-8', '<p>Stra\u00dfe</p>', 'text/html; charset=klingon'],
  ]
  for (const [by, body, type] of encodings) {
    test(`its encoding is told by ${by}`, async () => {
      const { url } = await serving(body, { 'content-type': type })
      expect(await fetched(url)).toBe('Stra\u00dfe')
    })
  }

  test('max_chars cuts, and says how much is left out', async () => {
    const { url } = await serving('x'.repeat(60_000), TEXT)
    expect(await fetched(url, { maxChars: 10 })).toBe('xxxxxxxxxx\n[59990 more characters of 60000: see max_chars]')
    expect(await fetched(url)).toBe(`${'x'.repeat(50_000)}\n[10000 more characters of 60000: see max_chars]`)
    expect(await fetched(url, { maxChars: 50_001 })).toMatch(/^Error: web_fetch: max_chars: /)
  })

  test('no character is cut in half', async () => {
    const { url } = await serving('a😀b', { 'content-type': 'text/plain; charset=utf-8' })
    expect(await fetched(url, { maxChars: 2 })).toBe('a\n[3 more characters of 4: see max_chars]')
  })

  for (const [coding, pack] of [['gzip', gzipSync], ['br', quickBrotli], ['deflate', deflateSync]] as const) {
    test(`${coding} is unpacked`, async () => {
      const { url } = await serving(pack('packed'), { ...TEXT, 'content-encoding': coding })
      expect(await fetched(url)).toBe('packed')
    })

    test(`a ${coding} body that unpacks to more than 5 MB is given up`, async () => {
      const { url } = await serving(pack(Buffer.alloc(12_000_000)), { ...TEXT, 'content-encoding': coding })
      expect(await fetched(url)).toBe(`Error: ${url}: it is larger than 5 MB`)
    })

    test(`${coding} that is none is said`, async () => {
      const { url } = await serving('not packed', { ...TEXT, 'content-encoding': coding })
      expect(await fetched(url)).toMatch(/^Error: http:.*: the answer broke off after 0 bytes$/)
    })
  }

  test('a body without end is given up at 5 MB, and the line is closed', async () => {
    let closed: Promise<unknown> = Promise.resolve()
    const { url } = await pageServer((_, response) => {
      response.writeHead(200, TEXT)
      closed = once(response, 'close')
      const more = (error?: Error | null): void => void (error || response.destroyed || response.write('x'.repeat(100_000), (failed) => setImmediate(more, failed)))
      more()
    })
    expect(await fetched(url)).toBe(`Error: ${url}: it is larger than 5 MB`)
    await closed
  })

  test('exactly 5 MB are read', async () => {
    const { url } = await serving('x'.repeat(5_000_000), TEXT)
    expect(await fetched(url, { maxChars: 1 })).toBe('x\n[4999999 more characters of 5000000: see max_chars]')
  })

  test('a status that is no success is said', async () => {
    const { url } = await serving('gone', TEXT, 404)
    expect(await fetched(url)).toBe(`Error: ${url} answered 404 Not Found`)
  })
})

describe('TOO-09: redirects', () => {
  test('five on the same host are followed, a sixth is not', async () => {
    const { url, asked } = await pageServer(({ url: path = '' }, response) => {
      const left = Number(path.slice(1))
      if (left === 0) response.writeHead(200, TEXT).end('there')
      else response.writeHead(302, { location: `/${left - 1}` }).end()
    })
    expect(await fetched(`${url}5`)).toBe(`[redirected to ${url}0]\nthere`)
    asked.length = 0
    expect(await fetched(`${url}6`)).toBe(`Error: ${url}6 was redirected more than 5 times`)
    expect(asked).toEqual(['/6', '/5', '/4', '/3', '/2', '/1'])
  })

  test('one to another host is told, not followed', async () => {
    const there = await serving('secret', TEXT)
    const { port } = await pageServer((_, response) => void response.writeHead(301, { location: `http://other.example:${there.port}/x` }).end())
    expect(await fetched(`http://one.example:${port}/`))
      .toBe(`http://one.example:${port}/ redirects to another host: http://other.example:${there.port}/x\nFetch that url if you want it.`)
    expect(there.asked).toEqual([])
  })

  test('each one is checked anew: a name that stands for a private address by then is refused', async () => {
    const { port } = await pageServer(({ url: path }, response) => {
      if (path === '/') response.writeHead(302, { location: '/again' }).end()
      else response.end('secret')
    })
    let looked = 0
    const web = { ...loopbackWeb, lookup: () => Promise.resolve([{ address: (looked += 1) === 1 ? '127.0.0.1' : '10.0.0.1', family: 4 }]) }
    expect(await fetched(`http://one.example:${port}/`, { web })).toMatch(/^Error: one\.example is not on the public internet \(10\.0\.0\.1\)/)
  })

  test('the connection goes to the address that was checked, and the name is looked up once', async () => {
    const { port, asked } = await serving('there', TEXT)
    let looked = 0
    const web = { ...loopbackWeb, lookup: () => Promise.resolve([{ address: (looked += 1) === 1 ? '127.0.0.1' : '127.0.0.2', family: 4 }]) }
    expect(await fetched(`http://rebinding.example:${port}/`, { web })).toBe('there')
    expect([looked, asked]).toEqual([1, ['/']])
  })

  for (const [location, said] of [
    ['file:///etc/passwd', 'Only http and https are fetched, not file:'],
    ['javascript:alert(1)', 'Only http and https are fetched, not javascript:'],
    ['http://', 'redirects to what is no address'],
    ['//me:secret@127.0.0.1/', 'A url with a user or password in it is not fetched'],
  ] as const) {
    test(`one to ${location} is refused`, async () => {
      const { url } = await pageServer((_, response) => void response.writeHead(302, { location }).end())
      expect(await fetched(url)).toContain(said)
    })
  }

  test('one to itself ends', async () => {
    const { url, asked } = await pageServer((_, response) => void response.writeHead(307, { location: '/' }).end())
    expect(await fetched(url)).toBe(`Error: ${url} was redirected more than 5 times`)
    expect(asked).toHaveLength(6)
  })
})

describe('TOO-09: what is not fetched', () => {
  test('this machine, as every agent’s access has it', async () => {
    const { port, asked } = await serving('secret', TEXT)
    for (const host of ['127.0.0.1', 'localhost', '[::ffff:127.0.0.1]', '0.0.0.0', '2130706433']) {
      expect(await fetched(`http://${host}:${port}/`, { web: publicWeb })).toMatch(/^Error: .* is not on the public internet/)
    }
    expect(asked).toEqual([])
  })

  for (const [url, said] of [
    ['file:///etc/passwd', 'Error: Only http and https are fetched, not file:'],
    ['ftp://example.com/', 'Error: Only http and https are fetched, not ftp:'],
    ['example.com', 'Error: url: "example.com" is no address; give all of it, with https://'],
    ['http://me:secret@example.com/', 'Error: A url with a user or password in it is not fetched. Leave them out.'],
    ['', 'Error: web_fetch: url: Too small: expected string to have >=1 characters'],
  ] as const) {
    test(`${JSON.stringify(url)} is refused`, async () => expect(await fetched(url)).toBe(said))
  }

  test('a port where nobody listens is said', async () => {
    const { port, server } = await serving('')
    server.close()
    await once(server, 'close')
    expect(await fetched(`http://127.0.0.1:${port}/`)).toMatch(/^Error: 127\.0\.0\.1:\d+ cannot be reached: .*ECONNREFUSED/)
  })

  test('a server that speaks no HTTP is said', async () => {
    const server = createServer((socket) => void socket.on('error', () => undefined).end('SSH-2.0-OpenSSH\r\n')).listen(0, '127.0.0.1')
    onTestFinished(() => void server.close())
    await once(server, 'listening')
    expect(await fetched(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`)).toMatch(/^Error: 127\.0\.0\.1:\d+ cannot be reached: /)
  })

  test('a line that drops in the middle is said', async () => {
    const { url } = await pageServer((_, response) => {
      response.writeHead(200, { ...TEXT, 'content-length': '100' })
      response.write('half', () => response.destroy())
    })
    expect(await fetched(url)).toBe(`Error: ${url}: the answer broke off after 4 bytes`)
  })

  for (const stage of ['head', 'body'] as const) {
    test(`a server that hangs before its ${stage} is left when the agent is stopped`, async () => {
      const stop = new AbortController()
      const { url } = await pageServer((_, response) => {
        if (stage === 'body') response.writeHead(200, TEXT).write('some')
        setTimeout(() => stop.abort(new Error('Stopped.')), 50)
      })
      expect(await fetched(url, { signal: stop.signal })).toBe('Error: Stopped.')
    })
  }
})
