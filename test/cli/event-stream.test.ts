import { setImmediate as nextTurn } from 'node:timers/promises'
import { PassThrough } from 'node:stream'
import * as fc from 'fast-check'
import { describe, expect, onTestFinished, test } from 'vitest'
import type { CadreEvent } from '../../src/core/events.ts'
import { createEventStream } from '../../src/cli/event-stream.ts'
import { MAIN, cliPlace } from './place.ts'
import { startProviderServer } from '../server/provider-server.ts'

const FULL = 1_000

/** A stream over a pipe of this many characters, and a journal that all events but deltas are in before they are told. */
function piped() {
  const journal: CadreEvent[] = []
  const pipe = new PassThrough({ highWaterMark: FULL, encoding: 'utf8' })
  const stream = createEventStream(pipe, function* replay(_session, after) {
    const last = journal.length
    for (const event of journal.slice(0, last)) if (event.seq > after) yield event
  })
  const tell = (type: 'notification' | 'delta', text = 'x') => {
    const event = { v: 1, seq: type === 'delta' ? 0 : journal.length + 1, time: 0, session: 's', type, data: { text } } as unknown as CadreEvent
    if (type !== 'delta') journal.push(event)
    stream.onEvent(event)
  }
  return { pipe, stream, journal, tell }
}

const parsed = (chunks: readonly string[]) => chunks.join('').split('\n').filter(Boolean).map((line) => JSON.parse(line) as CadreEvent)

describe('CMD-02: stream-json and a slow reader', () => {
  test('while nobody reads, no more is held than the pipe and one event, however much happens', async () => {
    const { pipe, tell, stream, journal } = piped()
    let most = 0
    for (let n = 0; n < 20_000; n += 1) {
      tell('notification', 'y'.repeat(100))
      if (n % 1_000 === 0) await nextTurn()
      most = Math.max(most, pipe.writableLength + pipe.readableLength)
    }
    expect(most).toBeLessThan(3 * FULL)
    const chunks: string[] = []
    pipe.on('data', (chunk: string) => chunks.push(chunk))
    await stream.end()
    expect(parsed(chunks)).toEqual(journal)
  })

  test('whenever the reader reads, it gets every journaled event once and in order, and a delta only in its place', async () => {
    const step = fc.oneof(fc.record({ tell: fc.constantFrom('notification', 'delta'), size: fc.nat(700) }), fc.constant('read'), fc.constant('turn'))
    await fc.assert(fc.asyncProperty(fc.array(step, { maxLength: 60 }), async (steps) => {
      const { pipe, tell, stream, journal } = piped()
      const chunks: string[] = []
      for (const what of steps) {
        if (what === 'turn') await nextTurn()
        else if (what === 'read') chunks.push((pipe.read() as string | null) ?? '')
        else tell((what as { tell: 'delta' }).tell, 'z'.repeat((what as { size: number }).size))
      }
      pipe.on('data', (chunk: string) => chunks.push(chunk))
      await stream.end()
      await nextTurn()
      expect(parsed(chunks).filter(({ type }) => type !== 'delta')).toEqual(journal)
    }), { numRuns: 200 })
  })

  test('an event that stood in the journal before it was told is written once', async () => {
    const { pipe, tell, stream, journal } = piped()
    const chunks: string[] = []
    tell('notification', 'y'.repeat(2 * FULL))
    tell('notification')
    const early = { ...journal[0], seq: 3 } as CadreEvent
    journal.push(early)
    pipe.on('data', (chunk: string) => chunks.push(chunk))
    await stream.end()
    stream.onEvent(early)
    await nextTurn()
    expect(parsed(chunks)).toEqual(journal)
  })

  test('a reader that keeps up gets deltas too', async () => {
    const { pipe, tell, stream } = piped()
    const chunks: string[] = []
    pipe.on('data', (chunk: string) => chunks.push(chunk))
    for (const type of ['notification', 'delta', 'delta', 'notification'] as const) {
      tell(type)
      await nextTurn()
    }
    await stream.end()
    expect(parsed(chunks).map(({ type }) => type)).toEqual(['notification', 'delta', 'delta', 'notification'])
  })

  test('a reader that goes away while it is behind ends the writing, not the run', async () => {
    const { pipe, tell, stream } = piped()
    pipe.on('error', () => undefined)
    for (let n = 0; n < 100; n += 1) tell('notification', 'y'.repeat(100))
    pipe.destroy(new Error('EPIPE'))
    await new Promise((resolve) => pipe.on('close', resolve))
    tell('notification')
    await stream.end()
    expect(pipe.destroyed).toBe(true)
  })

  test('a real run into a pipe that nobody reads until all agents have ended loses no event', async () => {
    const answer = 'long '.repeat(60_000)
    const server = await startProviderServer({ script: () => ({ text: answer }) })
    onTestFinished(() => server.close())
    const { run } = cliPlace()
    const env = { OPENAI_BASE_URL: `${server.url}/v1`, OPENAI_API_KEY: 'sk-test', CADRE_MODEL: 'openai/scripted-model' }
    // The reader begins when the journal says that the session has ended.
    const command = `"$0" "$1" -p go --output-format stream-json | { until "$0" "$1" sessions list --json | grep -q '"status": "completed"'; do sleep 0.1; done; cat; }`
    const { stdout } = await run('sh', ['-c', command, process.execPath, MAIN], { env })
    const events = parsed([stdout])
    const { stdout: exported } = await run(process.execPath, [MAIN, 'sessions', 'export', events[0]?.session ?? ''], { env })
    expect(stdout.length).toBeGreaterThan(answer.length)
    expect(events.filter(({ type }) => type !== 'delta')).toEqual(parsed([exported]))
  })
})
