import { basename, join } from 'node:path'
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
import type { Spawned } from '../../src/cli/bench/watch-spawns.ts'
import { SCRIPTED_ID } from '../../src/cli/bench/wire.ts'

/** Spawns in one repeat, one after the other. */
const SPAWNS = { usual: 300, quick: 3 }

/** What the fake provider takes for a sub-agent's first request. */
const CHILD_REQUEST = { stream: true, tools: [{ name: 'read' }], messages: [{ role: 'user', content: '[bench child 0]' }] }

/** Issue 3, "Done when" 2; in ms. */
const LIMITS = { median: [{ of: 'median', most: 0.5 }], p99: [{ of: 'median', most: 5 }] } satisfies Record<string, readonly Limit[]>

/**
 * From a sub-agent's start, as journaled, to its first model request, for which it needs no thread, and to its second, for which a thread has read
 * a file. Bare: the request built and handed to fetch; then its reply fetched, and a thread, which is there or has to be started, asked to read.
 */
export const spawn: Scenario = {
  name: 'spawn',
  about: 'from a sub-agent\'s start to its first model request, and to its second, for which a thread, warm or not yet there, has read a file',
  async run(bench) {
    const thread = await startBareThread('read')
    try {
      const bareSpawn = await bareSpawner(bench)
      return [...(await warmFigures(bench, () => bareSpawn(async () => thread))), ...(await coldFigures(bench, bareSpawn))]
    } finally {
      await thread.close()
    }
  },
}

type Bare = { readonly first: number; readonly second: number }

async function warmFigures(bench: Bench, bareSpawn: () => Promise<Bare>): Promise<readonly Figure[]> {
  const spawns = bench.quick ? SPAWNS.quick : SPAWNS.usual
  const spawner = await openSpawner(bench)
  try {
    const runs = await interleave(bench, { bare: () => times(spawns, bareSpawn), cadre: () => times(spawns, () => spawner.spawn()) })
    const cadre = (what: keyof Spawned, share: number) => runs.cadre.map((all) => quantile(all.map((one) => one[what]), share))
    const bare = (what: keyof Bare, share: number) => runs.bare.map((all) => quantile(all.map((one) => one[what]), share))
    return [
      figure('warm, median', cadre('fromStart', 0.5), bare('first', 0.5), LIMITS.median),
      figure('warm, p99', cadre('fromStart', 0.99), bare('first', 0.99), LIMITS.p99),
      figure('warm, from the parent\'s call', cadre('fromCall', 0.5), bare('first', 0.5)),
      figure('warm, to the second request', cadre('toSecond', 0.5), bare('second', 0.5)),
    ]
  } finally {
    await spawner.close()
  }
}

/** The first spawn of an orchestrator. */
async function coldFigures(bench: Bench, bareSpawn: BareSpawn): Promise<readonly Figure[]> {
  const runs = await interleave(bench, {
    async bare() {
      let own: BareThread | undefined
      try {
        return await bareSpawn(async () => (own = await startBareThread('read')))
      } finally {
        await own?.close()
      }
    },
    async cadre() {
      const spawner = await openSpawner(bench)
      try {
        return await spawner.spawn()
      } finally {
        await spawner.close()
      }
    },
  })
  return [
    figure('cold', runs.cadre.map(({ fromStart }) => fromStart), runs.bare.map(({ first }) => first)),
    figure('cold, to the second request', runs.cadre.map(({ toSecond }) => toSecond), runs.bare.map(({ second }) => second)),
  ]
}

const figure = (name: string, cadre: readonly number[], bare: readonly number[], limits: readonly Limit[] = []): Figure =>
  ({ scenario: 'spawn', name, unit: 'ms', better: 'less', cadre, bare, limits })

type BareSpawn = (thread: () => Promise<BareThread>) => Promise<Bare>

async function bareSpawner(bench: Bench): Promise<BareSpawn> {
  const provider = await bench.provider()
  const { root, files: [file = ''] } = bench.project()
  return async (thread) => {
    const began = monotonicMs()
    const body = JSON.stringify(CHILD_REQUEST)
    const first = monotonicMs() - began
    await (await fetch(`${provider.url}/v1/messages`, { method: 'POST', body })).text()
    await (await thread()).roundTrip(join(root, file))
    return { first, second: monotonicMs() - began }
  }
}

/** An orchestrator of its own, whose parent delegates once each time. */
async function openSpawner(bench: Bench) {
  const { createOrchestrator } = await library(bench.dist)
  const provider = await bench.provider()
  const { root, files } = bench.project()
  const home = bench.folder('home')
  const url = `${provider.url}/${basename(home)}` // of its own, too: what others ask of the provider is none of its spawns
  await provider.reset({ latencyMs: 0, files, dialect: CADRE_DIALECT })
  const watch = watchSpawns(url)
  const orchestrator = await createOrchestrator({
    cwd: root, root, watch: false, onEvent: watch.onEvent,
    env: { ...cleanEnv(home), CADRE_HOME: home, ANTHROPIC_BASE_URL: url, ANTHROPIC_API_KEY: 'any' },
  })
  return {
    async spawn() {
      const { success, error } = await orchestrator.run({ prompt: parentPrompt(1), model: SCRIPTED_ID })
      if (!success) throw new Error(`A run with one sub-agent failed: ${error ?? 'it said no reason'}`)
      const [spawned] = watch.take()
      if (!spawned) throw new Error('A run with one sub-agent started none.')
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
