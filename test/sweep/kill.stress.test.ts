import { spawn } from 'node:child_process'
import { appendFileSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { manyFiles } from './fake-doors.ts'

const SCRIPT = fileURLToPath(new URL('fixtures/journaled-sweep.ts', import.meta.url))
const COUNT = 60
let folder = ''
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'cadre-sweep-test-'))
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

/** Starts the sweep; with `killAt`, kills the process once the results file has that many bytes. Answers its stdout. */
async function runSweep(out: string, killAt: number | null): Promise<string> {
  const child = spawn(process.execPath, [SCRIPT, join(folder, 'journal'), out, String(COUNT)], { stdio: ['ignore', 'pipe', 'inherit'] })
  let stdout = ''
  child.stdout.on('data', (data: Buffer) => (stdout += data.toString()))
  const exit = new Promise((resolve) => child.on('exit', resolve))
  const results = join(out, 'results.jsonl')
  if (killAt !== null) {
    while (child.exitCode === null && !(existsSync(results) && statSync(results).size > killAt)) await sleep(1)
    child.kill('SIGKILL')
  }
  await exit
  return stdout
}

test('CMD-12 after kill -9 at several points, and a torn last line, the next run finishes and holds every item exactly once', async () => {
  const out = join(folder, 'out')
  for (const killAt of [100_000, 2_000_000, 5_100_000]) {
    expect(await runSweep(out, killAt)).toBe('')
    const whole = readFileSync(join(out, 'results.jsonl'), 'utf8').split('\n').slice(0, -1)
    expect(whole.map((line) => JSON.parse(line).status)).toEqual(whole.map(() => 'completed')) // only the last line can be torn
  }
  appendFileSync(join(out, 'results.jsonl'), '{"item":"src/f0099.ts","status":"comp')

  const summary = JSON.parse(await runSweep(out, null))
  expect(summary).toMatchObject({ status: 'completed', completed: COUNT })
  expect(summary.cached).toBeGreaterThan(20)

  const text = readFileSync(join(out, 'results.jsonl'), 'utf8')
  const lines: readonly { readonly item: string }[] = text.trimEnd().split('\n').map((line) => JSON.parse(line))
  expect(lines.map(({ item }) => item).toSorted()).toEqual(Object.keys(manyFiles(COUNT)))
  expect(readdirSync(out).toSorted()).toEqual(['.gitignore', 'report.md', 'results.jsonl'])

  const journal = new DatabaseSync(join(folder, 'journal'), { readOnly: true })
  const ends = journal.prepare('SELECT count(*) AS runs, count(DISTINCT key) AS keys FROM ends').get()
  journal.close()
  expect(ends).toEqual({ runs: COUNT, keys: COUNT })
})
