import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createPrograms } from '../../src/programs/programs.ts'
import { HOSTILE } from './hostile-programs.ts'
import { runProgram, saidOf } from './run-program.ts'

const NEIGHBOURS = 9
const programs = createPrograms({ max: NEIGHBOURS + 1, heapMb: 64, sliceSeconds: 0.4 })
beforeAll(() => programs.warm(NEIGHBOURS + 1))
afterAll(() => programs.close())

describe('PRG-04, PRG-05 a program that breaks a limit fails alone', () => {
  for (const { name, code, ends } of HOSTILE) {
    test(`a program that ${name} is one failed program, and nine neighbours finish`, { timeout: 60_000 }, async () => {
      const hostile = runProgram(programs, code)
      const neighbours = Array.from({ length: NEIGHBOURS }, (_, n) => runProgram(programs, `const { input } = await tools.read({ n: ${n} })\nawait tools.ls()\nreturn input.n`))
      const values = (await Promise.all(neighbours)).map((step) => (step.kind === 'done' ? step.value : saidOf(step)))
      expect(values).toEqual(Array.from({ length: NEIGHBOURS }, (_, n) => n))
      expect(saidOf(await hostile)).toMatch(ends)
    })
  }

  test('after all of them the pool still runs programs, in no more processes than it may have', async () => {
    expect(await runProgram(programs, 'return 1 + 1')).toMatchObject({ kind: 'done', value: 2 })
    expect(programs.stats().processes).toBeLessThanOrEqual(NEIGHBOURS + 1)
  })
})
