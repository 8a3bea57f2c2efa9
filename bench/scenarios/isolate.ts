import { fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import type { Figure } from '../figure.ts'
import { interleave } from '../interleave.ts'
import type { Scenario } from '../scenario.ts'
import { monotonicMs } from '../../src/cli/bench/monotonic.ts'
import type { ProgramStart } from '../../src/core/program.ts'
import type { Programs } from '../../src/programs/programs.ts'
import { createPrograms } from '../../src/programs/programs.ts'

const RUNS = { usual: 200, quick: 5 }
const CODE = 'let sum = 0; for (let i = 0; i < 1000; i += 1) sum += i; return { sum }'
const ASKING = 'const { lines } = await tools.read({ path: "a" }); return { lines }'
const BARE = join(import.meta.dirname, '..', 'bare', 'isolate.mjs')
const never = new AbortController().signal

/** Programs one after the other in a warm isolate process; bare is isolated-vm without a process of its own, which its limits do not hold in. */
export const isolate: Scenario = {
  name: 'isolate',
  about: 'a small program in a warm isolate process',
  async run({ repeats, quick }) {
    const runs = quick ? RUNS.quick : RUNS.usual
    const programs = createPrograms()
    const bare = fork(BARE, { execArgv: ['--no-node-snapshot'] })
    const bareRuns = async () => {
      bare.send([CODE, runs])
      const [ms] = (await Promise.race([once(bare, 'message'), once(bare, 'exit').then(() => { throw new Error('The bare isolate process ended.') })])) as [number]
      return ms
    }
    try {
      programs.warm(1)
      const values = await interleave({ repeats, quick }, { bare: bareRuns, cadre: () => perRun(programs, CODE, runs), asking: () => perRun(programs, ASKING, runs) })
      const figure = (name: string, cadre: readonly number[]): Figure =>
        ({ scenario: 'isolate', name, unit: 'ms', better: 'less', cadre, bare: values.bare, limits: [] })
      return [figure('a program', values.cadre), figure('a program that calls one tool', values.asking)]
    } finally {
      bare.kill()
      await programs.close()
    }
  },
}

/** Ms of one program, from its start until its isolate is free again. */
async function perRun(programs: Programs, code: string, runs: number): Promise<number> {
  const began = monotonicMs()
  for (let seed = 0; seed < runs; seed += 1) {
    const start: ProgramStart = { code, line: 1, file: 'bench.md', prompt: '', tools: ['read'], time: 0, seed }
    const begun = await programs.begin(start, never)
    let { step } = begun
    if (step.kind === 'calls') step = await begun.program.step(step.calls.map(({ id }) => ({ id, ok: true, text: '{"lines":3}' })), 0, never)
    if (step.kind !== 'done') throw new Error(`The program of the bench ended with ${JSON.stringify(step)}.`)
    await begun.program.close()
  }
  return (monotonicMs() - began) / runs
}
