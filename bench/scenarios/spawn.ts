import type { BareThread } from '../bare/thread.ts'
import { startBareThread } from '../bare/thread.ts'
import type { Bench } from '../bench.ts'
import { library } from '../built.ts'
import type { Figure, Limit } from '../figure.ts'
import { cleanEnv } from '../fan-out-runs.ts'
import { interleave } from '../interleave.ts'
import type { Scenario } from '../scenario.ts'
import { CADRE_DIALECT, parentPrompt } from '../../src/cli/bench/fan-out-script.ts'
import { monotonicMs } from '../../src/cli/bench/monotonic.ts'
import { quantile } from '../../src/cli/bench/spread.ts'
import { watchSpawns } from '../../src/cli/bench/watch-spawns.ts'

/** Spawns in one repeat, one after the other. */
const SPAWNS = { usual: 300, quick: 3 }

/** What the fake provider takes for a sub-agent's first request. */
const CHILD_REQUEST = JSON.stringify({ stream: true, tools: [{ name: 'read' }], messages: [{ role: 'user', content: '[bench child 0]' }] })

/** Issue 3, "Done when" 2; in ms. */
const LIMITS = { median: [{ of: 'median', most: 0.5 }], p99: [{ of: 'median', most: 5 }] } satisfies Record<string, readonly Limit[]>

/**
 * From a sub-agent's start, as journaled, to its first model request, and to the second, for which its thread has read a file. Bare: a thread
 * asked once and answering once, which is there or has to be started; before it, for the second request, a fetch of the first reply.
 */
export const spawn: Scenario = {
  name: 'spawn',
  about: 'from a sub-agent\'s start to its first model request, with threads that are warm and with none',
  async run(bench) {
    const spawns = bench.quick ? SPAWNS.quick : SPAWNS.usual
    const thread = await startBareThread()
    const warm = await openSpawner(bench)
    const figure = (name: string, cadre: readonly number[], bare: readonly number[], limits: readonly Limit[] = []): Figure =>
      ({ scenario: 'spawn', name, unit: 'ms', better: 'less', cadre, bare, limits })
    try {
      const provider = await bench.provider()
      const ask = async () => (await fetch(`${provider.url}/v1/messages`, { method: 'POST', body: CHILD_REQUEST })).text()
      const bareSpawn = async (start: () => Promise<BareThread>, end: (thread: BareThread) => unknown) => {
        const began = monotonicMs()
        await ask()
        const replied = monotonicMs()
        const own = await start()
        await own.roundTrip('next')
        const ended = monotonicMs()
        await end(own)
        return { first: ended - replied, second: ended - began }
      }
      const runs = await interleave(bench, {
        bare: () => times(spawns, () => bareSpawn(async () => thread, () => undefined)),
        cadre: () => times(spawns, () => warm.spawn()),
      })
      const cold = await interleave(bench, {
        bare: () => bareSpawn(startBareThread, (own) => own.close()),
        async cadre() {
          const spawner = await openSpawner(bench)
          try {
            return await spawner.spawn()
          } finally {
            await spawner.close()
          }
        },
      })
      const started = runs.cadre.map((all) => all.map(({ fromStart }) => fromStart))
      const asked = runs.cadre.map((all) => all.map(({ fromCall }) => fromCall))
      const second = runs.cadre.map((all) => all.map(({ toSecond }) => toSecond))
      const first = runs.bare.map((all) => all.map(({ first }) => first))
      const at = (share: number) => (values: readonly number[]) => quantile(values, share)
      return [
        figure('warm, median', started.map(at(0.5)), first.map(at(0.5)), LIMITS.median),
        figure('warm, p99', started.map(at(0.99)), first.map(at(0.99)), LIMITS.p99),
        figure('warm, from the parent\'s call', asked.map(at(0.5)), first.map(at(0.5))),
        figure('warm, to the second request', second.map(at(0.5)), runs.bare.map((all) => quantile(all.map(({ second }) => second), 0.5))),
        figure('cold', cold.cadre.map(({ fromStart }) => fromStart), cold.bare.map(({ first }) => first)),
        figure('cold, to the second request', cold.cadre.map(({ toSecond }) => toSecond), cold.bare.map(({ second }) => second)),
      ]
    } finally {
      await Promise.all([warm.close(), thread.close()])
    }
  },
}

/** An orchestrator of its own, whose parent delegates once each time. */
async function openSpawner(bench: Bench) {
  const { createOrchestrator } = await library(bench.dist)
  const provider = await bench.provider()
  const { root, files } = bench.project()
  const home = bench.folder('home')
  await provider.reset({ latencyMs: 0, files, dialect: CADRE_DIALECT })
  const watch = watchSpawns()
  const orchestrator = await createOrchestrator({
    cwd: root, root, watch: false, onEvent: watch.onEvent,
    env: { ...cleanEnv(home), CADRE_HOME: home, ANTHROPIC_BASE_URL: provider.url, ANTHROPIC_API_KEY: 'any' },
  })
  return {
    async spawn() {
      const { success, error } = await orchestrator.run({ prompt: parentPrompt(1), model: 'anthropic/claude-scripted' })
      const [spawned] = watch.take()
      if (!success || !spawned) throw new Error(`A run with one sub-agent failed: ${error ?? 'it started none'}`)
      return spawned
    },
    async close() {
      watch.close()
      await orchestrator.close()
    },
  }
}

async function times<Value>(count: number, work: () => Promise<Value>): Promise<readonly Value[]> {
  const values: Value[] = []
  for (let i = 0; i < count; i += 1) values.push(await work())
  return values
}
