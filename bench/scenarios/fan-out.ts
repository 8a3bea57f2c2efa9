import { spreadOf } from '../../src/cli/bench/spread.ts'
import type { Figure, Limit, Unit } from '../figure.ts'
import type { FanOutRun } from '../fan-out-runs.ts'
import { bare, cadre, fanOut } from '../fan-out-runs.ts'
import { interleave } from '../interleave.ts'
import type { Scenario } from '../scenario.ts'

const WIDTHS = [1, 8, 32, 100, 200]
const LATENCIES_MS = [0, 200]
const QUICK = { widths: [2], latencies: [0] }

/** Issue 3, "Done when" 1. */
const LIMITS: Readonly<Record<string, readonly Limit[]>> = {
  'wall, 100 at 0 ms': [{ of: 'ratio', most: 3.3 }],
  'wall, 100 at 200 ms': [{ of: 'ratio', most: 1.25 }],
  'wall, 32 at 200 ms': [{ of: 'ratio', most: 1.12 }],
  'CPU per delegation, 100 at 0 ms': [{ of: 'median', most: 5 }],
  'peak memory, 100 at 0 ms': [{ of: 'median', most: 400 }],
  'peak memory, 100 at 200 ms': [{ of: 'median', most: 400 }],
}

/** Whole processes, start to the parent's answer; each sub-agent takes four model turns and reads three files. */
export const fanOutScenario: Scenario = {
  name: 'fan-out',
  about: 'a parent with n sub-agents at once, as a whole process through the command',
  async run(bench) {
    const project = bench.project()
    const harness = cadre(bench.dist)
    const figures: Figure[] = []
    const alone = await interleave(bench, {
      bare: () => fanOut(bench, bare, project, { children: 0, latencyMs: 0 }),
      cadre: () => fanOut(bench, harness, project, { children: 0, latencyMs: 0 }),
    })
    const add = (name: string, unit: Unit, value: (run: FanOutRun, who: 'cadre' | 'bare') => number, runs: typeof alone) =>
      void figures.push({
        scenario: 'fan-out', name, unit, better: 'less', limits: LIMITS[name] ?? [],
        cadre: runs.cadre.map((run) => value(run, 'cadre')), bare: runs.bare.map((run) => value(run, 'bare')),
      })
    add('wall, one turn and no sub-agent', 'ms', ({ wallMs }) => wallMs, alone)
    const idle = { cadre: spreadOf(alone.cadre.map(({ cpuMs }) => cpuMs)).median, bare: spreadOf(alone.bare.map(({ cpuMs }) => cpuMs)).median }
    for (const latencyMs of bench.quick ? QUICK.latencies : LATENCIES_MS) {
      for (const children of bench.quick ? QUICK.widths : WIDTHS) {
        bench.tell(`fan-out of ${children} at ${latencyMs} ms`)
        const runs = await interleave(bench, {
          bare: () => fanOut(bench, bare, project, { children, latencyMs }),
          cadre: () => fanOut(bench, harness, project, { children, latencyMs }),
        })
        const size = `${children} at ${latencyMs} ms`
        add(`wall, ${size}`, 'ms', ({ wallMs }) => wallMs, runs)
        add(`CPU per delegation, ${size}`, 'ms', ({ cpuMs }, who) => (cpuMs - idle[who]) / children, runs)
        add(`peak memory, ${size}`, 'MB', ({ peakMb }) => peakMb, runs)
      }
    }
    return figures
  },
}
