import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { measure } from '../../bench/measure.ts'
import { living, PATIENCE_MS } from './living.ts'

const FAMILY = join(import.meta.dirname, 'fixtures', 'family.mjs')

function place() {
  const folder = mkdtempSync(join(tmpdir(), 'cadre-test-measure-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const file = join(folder, 'pids.json')
  const command = (manner: string, longestMs?: number) =>
    ({ argv: [FAMILY, file, manner], cwd: folder, env: {}, ...(longestMs !== undefined && { longestMs }) })
  return { folder, file, command, family: () => JSON.parse(readFileSync(file, 'utf8')) as readonly number[] }
}

test('what takes too long is ended with all that it started', async () => {
  const { folder, file, command, family } = place()
  for (let longestMs = 1_000; !existsSync(file); longestMs *= 4) { // as long as it takes to start both
    await expect(measure(command('hang', longestMs), folder)).rejects.toThrow(`family.mjs was ended after ${longestMs} ms`)
  }
  const alive = living(family())
  await expect.poll(alive, { timeout: PATIENCE_MS }).toEqual([])
})

test('what a measured process leaves behind ends with it', async () => {
  const { folder, command, family } = place()
  await measure(command('leave'), folder)
  const alive = living(family())
  await expect.poll(alive, { timeout: PATIENCE_MS }).toEqual([])
})

test('a program that is not there is told', async () => {
  const { folder, command } = place()
  await expect(measure({ ...command('hang'), file: join(folder, 'none') }, folder)).rejects.toThrow('ENOENT')
})
