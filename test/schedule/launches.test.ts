import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { createLaunches } from '../../src/schedule/launches.ts'

const SECOND_MS = 1_000

describe('KIN-08: so many starts in any second', () => {
  test('the next one is due a second after the first of the last ones', () => {
    let now = 5_000
    const launches = createLaunches(2, () => now)
    expect(launches.wait()).toBe(0)
    launches.note()
    now += 300
    expect(launches.wait()).toBe(0)
    launches.note()
    expect(launches.wait()).toBe(700)
    now += 699
    expect(launches.wait()).toBe(1)
    now += 1
    expect(launches.wait()).toBe(0)
    launches.note()
    expect(launches.wait()).toBe(300)
    now += 60_000
    expect(launches.wait()).toBe(0)
  })

  test('whoever waits as long as it is told starts then, and no second ever has more, whatever the rhythm', () => {
    fc.assert(fc.property(fc.integer({ min: 1, max: 20 }), fc.array(fc.nat(1_500), { maxLength: 80 }), (perSecond, pauses) => {
      let now = 0
      const launches = createLaunches(perSecond, () => now)
      const begun: number[] = []
      for (const pause of pauses) {
        now += pause
        const wait = launches.wait()
        expect(wait).toBeLessThanOrEqual(SECOND_MS)
        now += wait
        expect(launches.wait()).toBe(0)
        launches.note()
        begun.push(now)
      }
      for (const [i, at] of begun.entries()) {
        const next = begun[i + perSecond]
        if (next !== undefined) expect(next - at).toBeGreaterThanOrEqual(SECOND_MS)
      }
    }))
  })
})
