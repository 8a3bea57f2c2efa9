import { expect, test } from 'vitest'

import { GROWTH, mayGrow } from '../../src/threads/growth.ts'

const busy = { threads: GROWTH.working, starting: 0, waiting: 0, stuck: 0, max: 200 }

const cases = [
  ['none starts while as many are busy as can make use of the machine', {}, false],
  ['one starts for each that waits for something outside', { waiting: 1 }, true],
  ['one starts for each that seems to hang', { stuck: 1 }, true],
  ['many that are busy for long are not taken for as many that hang', { threads: GROWTH.working + GROWTH.stuck, stuck: 100 }, false],
  ['the first few start at once', { threads: 1 }, true],
  ['only a few are on their way at a time', { starting: GROWTH.working, waiting: 20 }, false],
  ['none starts beyond the cap', { threads: 200, waiting: 200 }, false],
] as const

for (const [title, change, expected] of cases) {
  test(title, () => {
    expect(mayGrow({ ...busy, ...change })).toBe(expected)
  })
}
