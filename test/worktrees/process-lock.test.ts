import { execFile } from 'node:child_process'
import { readFileSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { lockProcess } from '../../worktrees/process-lock.ts'
import { folder } from './place.ts'

test('a lock lets one in at a time, of many here and in other processes', async () => {
  const at = folder()
  const path = join(at, 'lock')
  const counter = join(at, 'counter')
  writeFileSync(counter, '0')
  const fixture = join(import.meta.dirname, 'fixtures/count-alone.ts')
  const others = [1, 2].map(() => promisify(execFile)(process.execPath, [fixture, path, counter, '40']))
  await Promise.all(Array.from({ length: 40 }, async () => {
    const unlock = await lockProcess(path)
    const was = Number(readFileSync(counter, 'utf8'))
    await new Promise((resolve) => setImmediate(resolve))
    writeFileSync(counter, String(was + 1))
    unlock()
  }))
  await Promise.all(others)
  expect([readFileSync(counter, 'utf8'), readdirSync(at)]).toEqual(['120', ['counter']])
})

for (const [whose, text] of [['a dead process', '999999999 1 x\n'], ['a process that had the id of one alive', `${process.ppid} 1 x\n`], ['this process\'s id in an earlier life', `${process.pid} 1 x\n`], ['nobody: it is empty', '']] as const) {
  test(`a lock of ${whose} is taken over, by one of many`, async () => {
    const at = folder()
    const path = join(at, 'lock')
    writeFileSync(path, text)
    let inside = 0
    const most: number[] = []
    await Promise.all(Array.from({ length: 10 }, async () => {
      const unlock = await lockProcess(path)
      most.push((inside += 1))
      await new Promise((resolve) => setImmediate(resolve))
      inside -= 1
      unlock()
    }))
    expect([Math.max(...most), most.length, readdirSync(at)]).toEqual([1, 10, []])
  })
}

test('waiting ends with its signal, or after its patience, naming the process', async () => {
  const path = join(folder(), 'lock')
  const unlock = await lockProcess(path)
  await expect(lockProcess(path, { signal: AbortSignal.abort(new Error('enough')) })).rejects.toThrow('enough')
  const stop = new AbortController()
  const waiting = lockProcess(path, { signal: stop.signal })
  stop.abort(new Error('enough'))
  await expect(waiting).rejects.toThrow('enough')
  await expect(lockProcess(path, { patienceMs: 0 })).rejects.toMatchObject({ code: 'LOCKED', message: expect.stringContaining(`process ${process.pid}`) })
  unlock()
  unlock()
  ;(await lockProcess(path, { patienceMs: 0 }))()
})
