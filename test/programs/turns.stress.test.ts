import { afterAll, expect, test } from 'vitest'
import { createPrograms } from '../../src/programs/programs.ts'
import { runProgram } from './run-program.ts'

const programs = createPrograms()
afterAll(() => programs.close())

test('PRG-05: two hundred short programs at once share the few processes that can make use of the machine', async () => {
  let most = 0
  const values = await Promise.all(Array.from({ length: 200 }, async (_, n) => {
    const step = await runProgram(programs, `await tools.read({})\nreturn ${n}`)
    most = Math.max(most, programs.stats().processes)
    return step.kind === 'done' ? step.value : step
  }))
  expect(values).toEqual(Array.from({ length: 200 }, (_, n) => n))
  expect(most).toBeLessThan(32) // not one for each; some may seem slow on a busy machine
})
