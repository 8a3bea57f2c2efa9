import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { expect, onTestFinished, test } from 'vitest'
import { childrenOf } from '../../bench/process-tree.ts'
import { readOptions, UsageError } from '../../bench/options.ts'
import type { SavedRun } from '../../bench/saved-run.ts'
import { readRun } from '../../bench/saved-run.ts'
import { SCENARIOS } from '../../bench/scenarios.ts'
import { living, PATIENCE_MS } from './living.ts'
import { foldersOf, runBench } from './run-bench.ts'

const CHEAP = ['crossing', 'request', 'reload']

function folder(): string {
  const path = mkdtempSync(join(tmpdir(), 'cadre-test-bench-'))
  onTestFinished(() => rmSync(path, { recursive: true, force: true }))
  return path
}

test('each figure of a run stands beside bare Node in the same run: repeats, spread, ratio and verdict', async () => {
  const file = join(folder(), 'run.json')
  const { code, stdout, stderr } = await runBench([...CHEAP, '--quick', '--repeats', '2', '--json', '--save', file])
  expect([code, stderr.split('\n').filter((line) => /error/i.test(line))]).toEqual([0, []])
  const run = JSON.parse(stdout) as SavedRun
  expect(run).toMatchObject({ format: 1, quick: true, repeats: 2, machine: { cores: expect.any(Number) }, versions: { node: process.versions.node } })
  expect(new Date(run.date).toISOString()).toBe(run.date)
  expect(new Set(run.figures.map(({ scenario }) => scenario))).toEqual(new Set(CHEAP))
  for (const { scenario, name, cadre, bare, spread, ratio, verdict, limits } of run.figures) {
    const what = `${scenario}: ${name}`
    expect([cadre.length, bare.length], what).toEqual(scenario === 'request' ? [1, 1] : [2, 2])
    for (const { min, median, max } of [spread.cadre, spread.bare]) expect(min <= median && median <= max, what).toBe(true)
    expect(ratio, what).toBeCloseTo(spread.cadre.median / spread.bare.median)
    expect(verdict === 'no limit', what).toBe(limits.length === 0)
  }
  expect(JSON.parse(readFileSync(file, 'utf8'))).toEqual(run)
})

test('the table says what was measured, on what, and what changed since a saved run; the run leaves nothing behind', async () => {
  const file = join(folder(), 'run.json')
  const earlier = { scenario: 'request', name: 'system prompt and tools, explorer', unit: 'bytes', cadre: [100, 100, 100] }
  writeFileSync(file, JSON.stringify({ format: 1, date: '2026-01-01T00:00:00Z', quick: true, figures: [earlier] }))
  const { pid, code, stdout } = await runBench(['request', '--quick', '--compare', file])
  expect(code).toBe(0)
  expect(stdout).toContain(`Node ${process.versions.node}`)
  expect(stdout).toMatch(/^request +system prompt and tools, explorer +\d+ bytes \(.*\) +[\d,]+ bytes \(.*\) +[\d.]+ × +≤ 3,000 bytes: (met|missed)$/m)
  expect(stdout).toMatch(/^request +system prompt and tools, explorer .* 100 bytes \(100–100\) +→ .* \+[\d.]+ % +noise$/m)
  expect(foldersOf(pid)).toEqual([])
})

for (const [args, said] of [
  [['fanout'], 'unknown scenario "fanout", did you mean "fan-out"?'],
  [['nothing-like-it'], `unknown scenario "nothing-like-it"; there are ${SCENARIOS.map(({ name }) => name).join(', ')}`],
  [['--peer', 'ai,opencod'], 'unknown peer "opencod", did you mean "opencode"?'],
  [['--fast'], "unknown option '--fast'"],
  [['--repeats', '0'], "option '--repeats <n>' argument '0' is invalid. It must be a whole number above 0."],
  [['crossing', '--plot'], '--plot draws what "fan-out" measures in full: name that scenario, without --quick'],
] as const) {
  test(`${args.join(' ')} is refused with one message`, () => {
    expect(() => readOptions(args, SCENARIOS, ['ai', 'opencode'])).toThrow(new UsageError(said))
  })
}

test('what is refused ends with exit code 2 before anything is built', async () => {
  expect(await runBench(['fanout'])).toMatchObject({ code: 2, stdout: '', stderr: 'bench: unknown scenario "fanout", did you mean "fan-out"?\n' })
})

test('a place that --save cannot write to is told before anything is measured', async () => {
  const { code, stderr } = await runBench(['crossing', '--save', join(folder(), 'none', 'run.json')])
  expect(code).toBe(2)
  expect(stderr).toMatch(/^bench: --save .*run\.json: ENOENT: .*\n$/)
})

test.skipIf(process.platform !== 'linux')('interrupted, it ends what it measures with all that started, and leaves no file behind', async () => {
  let seen = 0
  let measured: readonly number[] = []
  const { pid, code } = await runBench(['sweep'], async (child) => {
    while (measured.length === 0 && child.exitCode === null) {
      await delay(5)
      measured = familyOf(child.pid ?? 0)
    }
    seen = foldersOf(child.pid).length
    // So that none of them ends by itself.
    for (const each of measured) process.kill(each, 'SIGSTOP')
    child.kill('SIGTERM')
  })
  const alive = living(measured)
  expect([measured.length > 1, seen > 0]).toEqual([true, true])
  await expect.poll(alive, { timeout: PATIENCE_MS }).toEqual([])
  expect([code, foldersOf(pid)]).toEqual([130, []])
})

/** A command that the bench measures, and its isolate processes; empty while there is none that has some. */
function familyOf(bench: number): readonly number[] {
  for (const measured of childrenOf(bench)) {
    const isolates = childrenOf(measured)
    if (isolates.length > 0) return [measured, ...isolates]
  }
  return []
}

test('a file that is no saved run cannot be compared with', () => {
  const file = join(folder(), 'other.json')
  writeFileSync(file, '{"format": 1, "figures": "none"}')
  expect(() => readRun(file)).toThrow(new UsageError(`${file} cannot be compared with: it is no run that --save wrote`))
})
