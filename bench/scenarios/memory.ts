import type { Figure, Limit, Unit } from '../figure.ts'
import type { FanOutRun } from '../fan-out-runs.ts'
import { bare, cadre, fanOut, MOST_ALIVE } from '../fan-out-runs.ts'
import { interleave } from '../interleave.ts'
import type { Scenario } from '../scenario.ts'

/** Long enough that all of them wait at the same time, in ms. */
const LATENCY_MS = 300
const SIZES = { usual: { many: MOST_ALIVE, flood: 1_000 }, quick: { many: 3, flood: 5 } }

/** What a live agent costs while it waits for its model, and how many live at once when more are asked for (issue 3, "Done when" 2). */
export const memory: Scenario = {
  name: 'memory',
  about: 'resident memory of sub-agents that wait for their model, and how many are alive at once',
  async run(bench) {
    const { many, flood } = bench.quick ? SIZES.quick : SIZES.usual
    const project = bench.project()
    const harness = cadre(bench.dist)
    const of = (children: number) => {
      bench.tell(`memory of ${children}`)
      return interleave(bench, {
        bare: () => fanOut(bench, bare, project, { children, latencyMs: LATENCY_MS }),
        cadre: () => fanOut(bench, harness, project, { children, latencyMs: LATENCY_MS }),
      })
    }
    const one = await of(1)
    const all = await of(many)
    const queued = await of(flood)
    type Runs = typeof one
    const figure = (name: string, unit: Unit, better: Figure['better'], runs: Runs, value: (run: FanOutRun, single: FanOutRun) => number, limits: readonly Limit[] = []): Figure => {
      const each = (who: keyof Runs) => runs[who].map((run, i) => value(run, one[who][i] ?? run))
      return { scenario: 'memory', name, unit, better, cadre: each('cadre'), bare: each('bare'), limits }
    }
    const alive = [{ of: 'median', least: many }] satisfies readonly Limit[]
    return [
      figure(`peak, ${many} alive`, 'MB', 'less', all, ({ peakMb }) => peakMb),
      figure('for each agent beyond the first', 'MB', 'less', all, ({ peakMb }, single) => (peakMb - single.peakMb) / (many - 1)),
      figure(`alive at once of ${many}`, 'agents', 'more', all, ({ seen }) => seen.maxOpen, alive),
      figure(`alive at once of ${flood}`, 'agents', 'more', queued, ({ seen }) => seen.maxOpen, bench.quick ? [] : alive),
      figure(`peak, ${flood} asked for`, 'MB', 'less', queued, ({ peakMb }) => peakMb),
    ]
  },
}
