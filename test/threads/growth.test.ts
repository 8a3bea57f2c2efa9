import { expect, test } from 'vitest'

import { GROWTH, mayGrow } from '../../src/threads/growth.ts'

const busy = { threads: GROWTH.working, starting: 0, away: 0, max: 200 }

const cases = [
  ['none starts while as many are busy as can make use of the machine', {}, false],
  ['one starts for each that hangs or waits for something outside', { away: 1 }, true],
  ['the first few start at once', { threads: 1 }, true],
  ['only a few are on their way at a time', { starting: GROWTH.working, away: 20 }, false],
  ['none starts beyond the cap', { threads: 200, away: 200 }, false],
] as const

for (const [title, change, expected] of cases) {
  test(title, () => {
    expect(mayGrow({ ...busy, ...change })).toBe(expected)
  })
}
