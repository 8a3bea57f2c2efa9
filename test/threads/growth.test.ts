import { expect, test } from 'vitest'

import { GROWTH, mayGrow } from '../../src/threads/growth.ts'

const crowd = { threads: 20, starting: 0, tasks: 20, max: 200, sinceEndMs: GROWTH.quietMs, waitedMs: 0 }

const cases = [
  ['a thread starts while every agent waits for its model', {}, true],
  ['none starts while agents end quickly', { sinceEndMs: 1 }, false],
  ['one starts all the same for a task that has waited long', { sinceEndMs: 1, waitedMs: GROWTH.patienceMs }, true],
  ['the first few start at once', { threads: 1, tasks: 1, sinceEndMs: 0 }, true],
  ['only a few are on their way at a time', { starting: GROWTH.atOnce }, false],
  ['none starts while one without a task is on its way', { starting: 1, tasks: 19 }, false],
  ['none starts beyond the cap', { threads: 200, tasks: 200, waitedMs: 60_000 }, false],
] as const

for (const [title, change, expected] of cases) {
  test(title, () => {
    expect(mayGrow({ ...crowd, ...change })).toBe(expected)
  })
}
