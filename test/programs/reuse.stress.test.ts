import { setTimeout as delay } from 'node:timers/promises'
import { expect, onTestFinished, test } from 'vitest'
import type { ProgramTask } from '../../src/core/program-wire.ts'
import { createIsolatePool } from '../../src/programs/isolate-pool.ts'
import type { IsolateProcess } from '../../src/programs/isolate-pool.ts'

const program = (run: number): ProgramTask =>
  ({ kind: 'run', run, start: { code: 'return 1', line: 1, file: 'x.md', prompt: '', tools: [], time: 0, seed: 1 } })

test('PRG-05: a program handed to a process that was just killed for the one before it runs in another', { timeout: 60_000 }, async () => {
  const pool = createIsolatePool({ max: 1, heapMb: 32 })
  onTestFinished(() => pool.close())
  for (let round = 0; round < 3; round += 1) {
    const answers: unknown[] = []
    let first: IsolateProcess | null = null
    const ended: (Error | null)[] = []
    pool.run(program(1), {
      started: (isolate) => { first = isolate },
      // In the moment its answer is here the first one's process is killed, as for one that frees its isolate too slowly.
      received: () => first?.kill(),
      ended: () => undefined,
    })
    pool.run(program(2), { started: () => undefined, received: (message) => void answers.push(message), ended: (error) => void ended.push(error) })
    while (ended.length === 0) await delay(10)
    expect([answers.length, ended]).toEqual([1, [null]])
  }
})
