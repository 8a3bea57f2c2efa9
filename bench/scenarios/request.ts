import { bare, cadre, fanOut } from '../fan-out-runs.ts'
import { interleave } from '../interleave.ts'
import type { Scenario } from '../scenario.ts'

/** Issue 3, "Done when" 3. */
const MOST_BYTES = 3_000

export const request: Scenario = {
  name: 'request',
  about: 'bytes of a sub-agent\'s first request: its system prompt and tool schemas, which every delegation pays',
  async run(bench) {
    const project = bench.project()
    const harness = cadre(bench.dist)
    const shape = { children: 1, latencyMs: 0 }
    const runs = await interleave({ repeats: 1, quick: true }, { bare: () => fanOut(bench, bare, project, shape), cadre: () => fanOut(bench, harness, project, shape) })
    const bytes = (who: keyof typeof runs) => runs[who].map(({ seen }) => seen.firstChildBytes)
    return [{
      scenario: 'request', name: 'system prompt and tools, explorer', unit: 'bytes', better: 'less',
      cadre: bytes('cadre'), bare: bytes('bare'), limits: [{ of: 'median', most: MOST_BYTES }],
    }]
  },
}
