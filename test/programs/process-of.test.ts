import { ChildProcess } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { Tinypool } from 'tinypool'
import { expect, onTestFinished, test, vi } from 'vitest'
import { createPrograms } from '../../src/programs/programs.ts'
import { processOf } from '../../src/programs/process-of.ts'

const json = (path: string) => JSON.parse(readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8'))

test('the package whose insides the pool looks into is pinned to one version, in package.json and lockfile alike', () => {
  const { dependencies } = json('package.json')
  const { packages } = json('package-lock.json')
  expect(dependencies.tinypool).toMatch(/^\d+\.\d+\.\d+$/)
  expect([packages[''].dependencies.tinypool, packages['node_modules/tinypool'].version]).toEqual([dependencies.tinypool, dependencies.tinypool])
})

test('PRG-05: a pool that hides its processes runs no program, and says what to install', async () => {
  const threads = vi.spyOn(Tinypool.prototype, 'threads', 'get').mockImplementation(() => [{ threadId: 1 } as never])
  const programs = createPrograms({ max: 1, heapMb: 32 })
  onTestFinished(async () => {
    threads.mockRestore()
    await programs.close()
  })
  const start = { code: 'return 1', line: 1, file: 'x.md', prompt: '', tools: [], time: 0, seed: 1 }
  await expect(programs.begin(start, new AbortController().signal)).rejects.toMatchObject({
    name: 'CadreError', code: 'ISOLATE_UNAVAILABLE', message: expect.stringContaining('npm ci'),
  })
})

test('a worker’s process is its own', async () => {
  const child = Object.create(ChildProcess.prototype) as ChildProcess
  expect(processOf({ process: child })).toBe(child)
  for (const none of [undefined, {}, { process: { pid: 1 } }]) expect(() => processOf(none)).toThrow(expect.objectContaining({ code: 'ISOLATE_UNAVAILABLE' }))
})
