import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { prepareSweep } from '../../src/sweep/sweep.ts'
import { fakeDoors, manyFiles, options } from './fake-doors.ts'

describe('CMD-03 what a user can get wrong is known before there is anyone to run', () => {
  const file = join(import.meta.dirname, 'prepare.test.ts')
  const wrong: readonly (readonly [what: string, given: Parameters<typeof options>[0], said: string | RegExp])[] = [
    ['no agent at a time', { parallel: 0 }, 'parallel is 0'],
    ['half an item per agent', { batch: 0.5 }, 'batch is 0.5'],
    ['nothing to sweep over', { over: undefined as never }, 'over is missing; it must be a text'],
    ['a list of patterns', { over: ['a', 'b'] as never }, 'over is of type object; it must be a text'],
    ['a prompt that is no text', { prompt: 7 as never }, 'prompt is of type number; it must be a text'],
    ['no item', { over: 'nothing/*' }, 'no file matches nothing/*'],
    ['a table that is not there', { over: 'none.csv' }, 'none.csv cannot be read'],
    ['a bad row of a table', { over: 'rows.csv' }, 'rows.csv cannot be read as CSV'],
    ['a bad line of JSON', { over: 'rows.jsonl' }, 'rows.jsonl line 2'],
    ['a prompt that names no column', { prompt: 'Look at {itm}' }, '{itm}'],
    ['an empty prompt', { prompt: ' ' }, 'The prompt of the sweep is empty'],
    ['a prompt that one row cannot fill', { over: 'holes.jsonl', prompt: '{b}' }, '{b}'],
    ['a file for a folder', { out: file }, 'is a file'],
  ]
  const files = { ...manyFiles(2), 'rows.csv': 'a,b\n1\n', 'rows.jsonl': '{"a":1}\n{', 'holes.jsonl': '{"a":1,"b":2}\n{"a":1}\n' }
  for (const [what, given, said] of wrong) {
    test(`${what} is a usage error`, async () => {
      const { root, cwd, listFiles, readFile, stdin } = fakeDoors({ files }).doors
      await expect(prepareSweep(options(given), { root, cwd, listFiles, readFile, stdin })).rejects.toMatchObject({ code: 'USAGE', message: expect.stringContaining(String(said)) })
    })
  }
})

test('CMD-05 preparing writes nothing, and running reads no item a second time', async () => {
  const out = mkdtempSync(join(tmpdir(), 'cadre-sweep-test-'))
  onTestFinished(() => rmSync(out, { recursive: true, force: true }))
  let reads = 0
  const { doors, started } = fakeDoors({
    async *stdin() {
      reads += 1
      yield* ['a', 'b']
    },
  })
  const prepared = await prepareSweep(options({ over: '-', out }), doors)
  expect([readdirSync(out), started.length, reads]).toEqual([[], 0, 1])
  writeFileSync(join(out, 'mine'), '')
  expect(await prepared.run(doors)).toMatchObject({ status: 'completed', completed: 2 })
  expect([readdirSync(out).toSorted(), started.length, reads]).toEqual([['mine', 'report.md', 'results.jsonl'], 2, 1])
})
