import { afterAll, expect, test } from 'vitest'
import { createPrograms } from '../../src/programs/programs.ts'
import { TURNS } from '../../src/programs/turns.ts'
import { never, runProgram, startOf } from './run-program.ts'

const programs = createPrograms()
afterAll(() => programs.close())

test('programs that wait for outcomes do not keep others out', async () => {
  const waiting = await Promise.all(Array.from({ length: TURNS.working + 3 }, () => programs.begin(startOf('return await tools.read({})'), never)))
  expect(await runProgram(programs, 'return 1')).toMatchObject({ kind: 'done', value: 1 })
  for (const { program } of waiting) expect(await program.step([{ id: 1, ok: true, text: '2' }], 1, never)).toMatchObject({ kind: 'done', value: 2 })
})

test('a program that is stopped in line leaves it at once, and the next one begins all the same', async () => {
  const stop = new AbortController()
  const inside = Array.from({ length: TURNS.working }, () => programs.begin(startOf('return await tools.read({})'), never))
  const stopped = programs.begin(startOf('return 1'), stop.signal)
  const after = runProgram(programs, 'return 2')
  stop.abort(new Error('no longer wanted'))
  await expect(stopped).rejects.toThrow('no longer wanted')
  expect(await after).toMatchObject({ kind: 'done', value: 2 })
  for (const { program } of await Promise.all(inside)) await program.close()
})
