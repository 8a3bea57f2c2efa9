import { workerEntry } from '../built.ts'
import { startBareThread } from '../bare/thread.ts'
import { interleave } from '../interleave.ts'
import type { Scenario } from '../scenario.ts'
import { monotonicMs } from '../../src/cli/bench/monotonic.ts'
import type { Host, Reply, ToolCall, ToolOutcome } from '../../src/core/contract.ts'
import { NO_USAGE } from '../../src/core/contract.ts'
import type { Runner } from '../../src/threads/runner.ts'
import { createThreads } from '../../src/threads/runner.ts'

const TURNS = { usual: 2_000, quick: 20 }
/** Each turn asks the main side twice: to run the call, and for the next reply. */
const ASKS_PER_TURN = 2
const ANSWER = 'x'.repeat(1_000)
const BRIEF = { agent: 'sa-bench', type: 'bench', root: '/', paths: [], form: 'text' } as const

const callOf = (turn: number): ToolCall => ({ id: `call_${turn}`, name: 'bash', input: null, local: false })
const outcomeOf = ({ id, name }: ToolCall): ToolOutcome => ({ callId: id, tool: name, ok: true, text: ANSWER })
const replyOf = (calls: readonly ToolCall[]): Reply => ({ text: '', calls, usage: NO_USAGE, model: 'bench' })

/** A loop in its thread that asks the main side for everything, against the same messages over a bare port. */
export const crossing: Scenario = {
  name: 'crossing',
  about: 'one round trip between an agent\'s thread and the main thread, through the guard',
  async run({ dist, repeats, quick }) {
    const turns = quick ? TURNS.quick : TURNS.usual
    const threads = createThreads({ max: 1, entry: workerEntry(dist) })
    const thread = await startBareThread('echo')
    try {
      const { bare, cadre } = await interleave({ repeats, quick }, {
        async bare() {
          const began = monotonicMs()
          for (let turn = 0; turn < turns; turn += 1) {
            await thread.roundTrip([outcomeOf(callOf(turn))])
            await thread.roundTrip(replyOf([callOf(turn)]))
          }
          return (monotonicMs() - began) / turns / ASKS_PER_TURN
        },
        cadre: () => askingLoop(threads, turns),
      })
      return [{ scenario: 'crossing', name: 'one round trip', unit: 'ms', better: 'less', cadre, bare, limits: [] }]
    } finally {
      await Promise.all([threads.close(), thread.close()])
    }
  },
}

/** Ms between the loop's second turn and its end, by what it asked meanwhile: the first turn finds the thread. */
async function askingLoop(threads: Runner, turns: number): Promise<number> {
  let turn = 0
  let began = 0
  const host: Host = {
    async next() {
      turn += 1
      if (turn === 2) began = monotonicMs()
      return replyOf(turn <= turns ? [callOf(turn)] : [])
    },
    call: async (calls) => calls.map(outcomeOf),
  }
  await threads.run({ brief: BRIEF, host, signal: new AbortController().signal })
  return (monotonicMs() - began) / (turns - 1) / ASKS_PER_TURN
}
