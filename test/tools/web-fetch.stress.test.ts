import { readdirSync, readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { SOAK } from '../soak.ts'
import { fetched, pageServer, serving } from './page-server.ts'

const HTML = { 'content-type': 'text/html' }
const BYTES = 4_900_000
const filled = (piece: string) => piece.repeat(BYTES / piece.length)

/** Arguments of the processes that convert a page for this one. */
const converters = (): readonly string[] => readdirSync('/proc').filter((name) => /^\d+$/.test(name)).flatMap((pid) => {
  try {
    const ours = new RegExp(`^PPid:\\t${process.pid}$`, 'm').test(readFileSync(`/proc/${pid}/status`, 'utf8'))
    const args = readFileSync(`/proc/${pid}/cmdline`, 'utf8')
    return ours && args.includes('sandbox/markdown') ? [args] : []
  } catch {
    return [] // it ended while we looked
  }
})

const hostile: Readonly<Record<string, string>> = {
  'open folders of folders': filled('<div>'),
  'lists in lists': '<ul><li>'.repeat(20_000),
  'bold in bold': filled('<b>'),
  'links and paragraphs that do not nest': filled('<a><p>'),
  'a table in every cell': filled('<table><tr><td>'),
  'an attribute list without end': `<p ${filled('a=1 ')}`,
}
/** They take some ten seconds each. */
for (const [what, page] of Object.entries(hostile).slice(SOAK ? 0 : -3)) {
  test(`TOO-09: a page of ${what} costs one process, and the host goes on meanwhile`, async () => {
    const { url } = await serving(page, HTML)
    let ticks = 0
    const clock = setInterval(() => { ticks += 1 }, 20)
    const text = await fetched(url)
    clearInterval(clock)
    expect(text).toMatch(/^(?!Error)|cannot be turned into Markdown|larger than 5 MB/)
    expect(ticks).toBeGreaterThan(0)
    if (process.platform === 'linux') expect(converters()).toEqual([])
  })
}

test('TOO-09: a server that never answers is left after 30 s, and so is one whose body drips', async () => {
  const silent = await pageServer(() => undefined)
  const dripping = await pageServer((_, response) => {
    response.writeHead(200, { 'content-type': 'text/plain' })
    const drip = setInterval(() => response.write('x'), 100)
    response.once('close', () => clearInterval(drip))
  })
  await Promise.all([silent, dripping].map(async ({ url }) => expect(await fetched(url)).toBe(`Error: ${url} took longer than 30 s`)))
})

test.skipIf(process.platform !== 'linux')('a stop ends the process that converts the page', async () => {
  const stop = new AbortController()
  const { url } = await serving(filled('<div>'), HTML)
  const answer = fetched(url, { signal: stop.signal })
  while (converters().length === 0) await sleep(10)
  stop.abort(new Error('Stopped.'))
  expect(await answer).toBe('Error: Stopped.')
  while (converters().length > 0) await sleep(10)
})
