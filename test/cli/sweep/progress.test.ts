import { describe, expect, test } from 'vitest'
import { createProgressLine } from '../../../src/cli/sweep/progress.ts'
import type { SweepProgress } from '../../../src/sweep/sweep.ts'

const at = (done: number, given: Partial<SweepProgress> = {}): SweepProgress => ({
  total: 1_000, done, failed: 0, cached: 0, running: 8, costUsd: 0, ...given,
})

/** A progress line on a stream that remembers, with a clock that stands still until it is told. */
function line(given: { readonly isTTY?: boolean; readonly columns?: number; readonly colour?: boolean } = {}) {
  const writes: string[] = []
  const clock = { ms: 0 }
  const { isTTY = true, columns = 120, colour = false } = given
  const progress = createProgressLine({ stream: { write: (text) => writes.push(text), columns }, isTTY, colour, now: () => clock.ms })
  return { progress, writes, clock }
}
const CLEAR = '\r\u001b[2K'

describe('CMD-12 the progress line on a terminal', () => {
  test('shows done, failed, running, rate, time left and cost', () => {
    const { progress, writes, clock } = line()
    progress.update(at(0))
    clock.ms = 10_000
    progress.update(at(250, { failed: 3, costUsd: 1.234 }))
    progress.end()
    const full = '250/1,000 (25 %)  3 failed  8 running  25/s  30 s left  $1.23'
    expect(writes).toEqual([`${CLEAR}0/1,000 (0 %)  8 running`, CLEAR + full, CLEAR])
  })

  test('is redrawn at most 10 times a second, however often it is told', () => {
    const { progress, writes, clock } = line()
    for (let ms = 0; ms < 1_000; ms += 1) {
      clock.ms = ms
      progress.update(at(ms))
    }
    progress.end()
    expect(writes).toHaveLength(11)
  })

  test('is never wider than the terminal: the least important goes first', () => {
    for (const columns of [12, 20, 30, 45, 60]) {
      const { progress, writes, clock } = line({ columns })
      progress.update(at(0))
      clock.ms = 60_000
      progress.update(at(10, { failed: 3, costUsd: 0.001 }))
      progress.end()
      for (const text of writes) expect(text.replace(CLEAR, '').length).toBeLessThan(columns)
      expect(writes[1]).toContain('10/1,0')
    }
  })

  test('counts neither what was done in an earlier sweep as speed, nor the time before the first agent ended', () => {
    const { progress, writes, clock } = line()
    progress.update(at(0))
    clock.ms = 500
    progress.update(at(900, { cached: 900 }))
    clock.ms = 10_000
    progress.update(at(910, { cached: 900 }))
    progress.end()
    expect(writes[1]).toBe(`${CLEAR}900/1,000 (90 %)  8 running  900 done earlier`)
    expect(writes[2]).toContain('1.0/s  1 min 30 s left')
  })

  test('follows a change of pace within half a minute', () => {
    const { progress, writes, clock } = line()
    for (let second = 0; second <= 100; second += 1) {
      clock.ms = second * 1_000
      progress.update(at(second < 50 ? second * 10 : 500 + (second - 50), { total: 10_000 }))
    }
    progress.end()
    expect(writes.at(-2)).toContain('1.0/s')
  })

  test('a slow sweep shows its rate per minute', () => {
    const { progress, writes, clock } = line()
    progress.update(at(0))
    clock.ms = 120_000
    progress.update(at(5))
    progress.end()
    expect(writes[1]).toContain('2.5/min  6 h 38 min left')
  })

  test('a note is printed above it, and the line comes back', () => {
    const { progress, writes } = line()
    progress.update(at(5))
    progress.note('a.md:1: warning: odd')
    progress.end()
    expect(writes.join('')).toBe(`${CLEAR}5/1,000 (0 %)  8 running${CLEAR}a.md:1: warning: odd\n${CLEAR}5/1,000 (0 %)  8 running${CLEAR}`)
  })

  test('failures are red, and NO_COLOR is honoured', () => {
    const red = '\u001b[31m3 failed\u001b[39m'
    const { progress, writes } = line({ colour: true })
    progress.update(at(5, { failed: 3 }))
    progress.end()
    expect(writes[0]).toContain(red)

    const before = process.env['NO_COLOR']
    process.env['NO_COLOR'] = '1'
    try {
      const plain: string[] = []
      const quiet = createProgressLine({ stream: { write: (text) => plain.push(text), columns: 80 }, isTTY: true })
      quiet.update(at(5, { failed: 3 }))
      quiet.end()
      expect(plain.join('')).not.toContain('\u001b[31m')
    } finally {
      if (before === undefined) delete process.env['NO_COLOR']
      else process.env['NO_COLOR'] = before
    }
  })
})

describe('CMD-12 progress elsewhere', () => {
  test('is a plain line every 10 %, at most one a second, and one at the end', () => {
    const { progress, writes, clock } = line({ isTTY: false })
    for (let done = 0; done <= 1_000; done += 1) {
      clock.ms = done * 20
      progress.update(at(done))
    }
    progress.end()
    const counts = ['0', '100', '200', '300', '400', '500', '600', '700', '800', '900', '1,000']
    expect(writes.map((text) => /^[\d,]+/.exec(text)?.[0])).toEqual(counts)
    expect(writes.join('').replaceAll('\n', '')).not.toMatch(/\p{Cc}/u)
    expect(writes.every((text) => text.endsWith('\n'))).toBe(true)
  })

  test('is a plain line every 5 s while little happens', () => {
    const { progress, writes, clock } = line({ isTTY: false })
    for (let second = 0; second <= 22; second += 1) {
      clock.ms = second * 1_000
      progress.update(at(second))
    }
    progress.end()
    expect(writes.map((text) => /^\d+/.exec(text)?.[0])).toEqual(['0', '5', '10', '15', '20', '22'])
  })

  test('a fast sweep still ends with its last count', () => {
    const { progress, writes } = line({ isTTY: false })
    progress.update(at(0))
    progress.update(at(1_000, { running: 0 }))
    progress.end()
    expect(writes).toEqual(['0/1,000 (0 %)  8 running\n', '1,000/1,000 (100 %)  0 running\n'])
  })
})
