import { mkdirSync, writeFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import type { Bench } from '../bench.ts'
import type { Figure } from '../figure.ts'
import { cleanEnv } from '../fan-out-runs.ts'
import { interleave } from '../interleave.ts'
import type { Measured } from '../measure.ts'
import { measure } from '../measure.ts'
import type { Scenario } from '../scenario.ts'

const ITEMS = { usual: 10_000, quick: 30 }
/** A sweep takes half a minute: the figures are steady, and more repeats tell no more. */
const MOST_REPEATS = 3
const SAMPLE_MS = 50
const MS_PER_SECOND = 1_000
const TENTHS = 10
const LINES = 20

/** Issue 3, "Done when" 4. */
const LIMITS = { perSecond: 500, scaling: 1.7, growth: 1.1 }

const AGENT = `---
name: line-count
description: Counts the lines of a file.
model: script
tools: read
---

\`\`\`js
const { items: [{ item }] } = JSON.parse(prompt)
const { text } = await tools.read({ path: item })
return { lines: text.split('\\n').length - 1 }
\`\`\`
`

const BARE = join(import.meta.dirname, '..', 'bare', 'sweep.mjs')

/** One program per file, through the command, with one agent at a time and with as many as there are cores. */
export const sweep: Scenario = {
  name: 'sweep',
  about: 'a program once for each of 10,000 small files',
  async run(bench) {
    const items = bench.quick ? ITEMS.quick : ITEMS.usual
    const root = bench.folder('project')
    const files = join(root, 'files')
    mkdirSync(join(root, '.cadre', 'agents'), { recursive: true })
    mkdirSync(files)
    writeFileSync(join(root, '.cadre', 'agents', 'line-count.md'), AGENT)
    for (let i = 0; i < items; i += 1) writeFileSync(join(files, `${i}.txt`), `line of ${i}\n`.repeat(LINES))
    const cores = availableParallelism()
    const runs = await interleave({ quick: true, repeats: Math.min(bench.repeats, MOST_REPEATS) }, {
      bareOne: () => bareSweep(bench, files, 1, items),
      one: () => cadreSweep(bench, root, 1, items),
      bareAll: () => bareSweep(bench, files, cores, items),
      all: () => cadreSweep(bench, root, null, items),
    })
    const figure = (name: string, rest: Omit<Figure, 'scenario' | 'name'>): Figure => ({ scenario: 'sweep', name, ...rest })
    const rate = (list: readonly Measured[]) => list.map(({ wallMs }) => (items / wallMs) * MS_PER_SECOND)
    const scaling = (all: readonly Measured[], one: readonly Measured[]) => all.map(({ wallMs }, i) => (one[i]?.wallMs ?? Number.NaN) / wallMs)
    const peak = (list: readonly Measured[]) => list.map(({ samples, peakMb }) => Math.max(peakMb, ...samples))
    return [
      figure(`items, ${cores} at once`, { unit: '/s', better: 'more', cadre: rate(runs.all), bare: rate(runs.bareAll), limits: [{ of: 'median', least: LIMITS.perSecond }] }),
      figure('items, 1 at once', { unit: '/s', better: 'more', cadre: rate(runs.one), bare: rate(runs.bareOne), limits: [] }),
      figure(`${cores} at once against 1`, {
        unit: '×', better: 'more', cadre: scaling(runs.all, runs.one), bare: scaling(runs.bareAll, runs.bareOne), limits: [{ of: 'median', least: LIMITS.scaling }],
      }),
      figure('peak memory, isolate processes and all', { unit: 'MB', better: 'less', cadre: peak(runs.all), bare: peak(runs.bareAll), limits: [] }),
      figure('memory, last tenth against second', {
        unit: '×', better: 'less', cadre: runs.all.map(growth), bare: runs.bareAll.map(growth), limits: [{ of: 'median', most: LIMITS.growth }],
      }),
    ]
  },
}

async function cadreSweep(bench: Bench, root: string, parallel: number | null, items: number): Promise<Measured> {
  const home = bench.folder('home')
  const main = join(bench.dist, 'src', 'cli', 'main.js')
  const width = parallel === null ? [] : ['--parallel', String(parallel)]
  const measured = await measure({
    argv: [main, 'sweep', '--agent', 'line-count', '--over', 'files/**', '--json', ...width],
    cwd: root,
    env: { ...cleanEnv(home), CADRE_HOME: join(home, '.cadre'), NODE_COMPILE_CACHE: join(bench.dist, 'compile-cache') },
    sampleMs: SAMPLE_MS,
  }, home)
  const { completed } = JSON.parse(measured.stdout) as { readonly completed: number }
  return expectAll(measured, completed, items)
}

async function bareSweep(bench: Bench, files: string, threads: number, items: number): Promise<Measured> {
  const home = bench.folder('bare')
  const measured = await measure({ argv: [BARE, files, String(threads), join(home, 'results.jsonl')], cwd: files, env: cleanEnv(home), sampleMs: SAMPLE_MS }, home)
  return expectAll(measured, Number(measured.stdout), items)
}

function expectAll(measured: Measured, done: number, items: number): Measured {
  if (done !== items) throw new Error(`A sweep did ${done} of ${items} items: ${measured.stdout.slice(0, 500)}`)
  return measured
}

/** How much larger memory is in the last tenth of the time than in the second; 1 where it cannot be sampled that often. */
function growth({ samples }: Measured): number {
  const tenth = Math.floor(samples.length / TENTHS)
  if (tenth === 0) return 1
  const mean = (from: number) => samples.slice(from, from + tenth).reduce((sum, mb) => sum + mb, 0) / tenth
  // The last samples see the processes end.
  return mean(samples.length - tenth - Math.ceil(tenth / TENTHS)) / mean(tenth)
}
