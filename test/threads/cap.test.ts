import { expect, test } from 'vitest'

import { threadCap } from '../../src/threads/cap.ts'
import { createThreads } from '../../src/threads/runner.ts'

const caps = [[65_530, 200], [1_048_576, 200], [32_000, 125], [8_000, 64], [1, 64], [null, 200]] as const
for (const [maps, cap] of caps) {
  test(`where a process may map ${maps ?? 'any number of'} memory areas, ${cap} threads may live at once`, () => {
    expect(threadCap(maps)).toBe(cap)
  })
}

test('an option lowers the cap, and cannot raise it', () => {
  expect(createThreads({ max: 3 }).cap).toBe(3)
  expect(createThreads({ max: 100_000 }).cap).toBe(createThreads().cap)
})
