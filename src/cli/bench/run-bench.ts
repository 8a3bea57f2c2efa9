import { availableParallelism } from 'node:os'
import type { Orchestrator } from '../../api.ts'
import { CadreError } from '../../core/errors.ts'
import { createOrchestrator } from '../../orchestrator.ts'
import { VERSION } from '../../version.ts'
import { PROVIDER_ENTRY } from '../provider-entry.ts'
import { CADRE_DIALECT, parentPrompt } from './fan-out-script.ts'
import { monotonicMs } from './monotonic.ts'
import { createPlace } from './place.ts'
import type { BenchPlace } from './place.ts'
import type { FakeProvider } from './provider-process.ts'
import { startFakeProvider } from './provider-process.ts'
import { quantile, spreadOf } from './spread.ts'
import { watchSpawns } from './watch-spawns.ts'
import type { Spawned } from './watch-spawns.ts'
import { SCRIPTED_ID } from './wire.ts'

/** What `cadre bench` measures on this machine. Times in ms, memory in MB of this process's resident memory. */
export type BenchReport = {
  readonly version: string
  readonly node: string
  readonly cores: number
  /** From a sub-agent's start to its first model request, one at a time. */
  readonly spawn: { readonly count: number; readonly medianMs: number; readonly p99Ms: number }
  /** Sub-agents of four model turns and three file reads each, started at once; medians. */
  readonly throughput: readonly { readonly width: number; readonly wallMs: number; readonly perSecond: number }[]
  /** What each more agent costs while all wait for their model. */
  readonly memory: { readonly agents: number; readonly perAgentMb: number; readonly peakMb: number }
}

export type BenchOptions = {
  /** How many sub-agents at once. */
  readonly widths: readonly number[]
  readonly spawns: number
  /** Agents alive at once when memory is measured; more than 1. */
  readonly alive: number
  readonly repeats: number
  readonly signal: AbortSignal
  onProgress(what: string): void
}

export const BENCH_DEFAULTS = { widths: [1, 8, 32, 100], spawns: 200, alive: 100, repeats: 3 } as const

/** Long enough for all agents to wait at the same time, in ms. */
const WAIT_MS = 300
const SAMPLE_MS = 10
const BYTES_PER_MB = 1024 * 1024
const MS_PER_SECOND = 1_000

/**
 * CMD-10: measures Cadre on this machine, offline, against a fake provider in a process of its own. Rejects with the signal's reason, or with
 * CadreError INVARIANT when a run fails; leaves neither files nor processes behind in any case.
 */
export async function runBench(options: BenchOptions): Promise<BenchReport> {
  const place = createPlace()
  try {
    const provider = await startFakeProvider(PROVIDER_ENTRY)
    try {
      return await measureAt(place, provider, options)
    } finally {
      await provider.close()
    }
  } finally {
    place.remove()
  }
}

async function measureAt(place: BenchPlace, provider: FakeProvider, options: BenchOptions): Promise<BenchReport> {
  const most = Math.max(options.alive, ...options.widths)
  const watch = watchSpawns(provider.url)
  try {
    const orchestrator = await createOrchestrator({
      cwd: place.root, root: place.root, env: place.env(provider.url), settings: { limits: { maxRunning: most, maxQueued: most, launchPerSecond: most } }, watch: false, onEvent: watch.onEvent,
    })
    try {
      return await report(runner(orchestrator, provider, place.files, options.signal), () => watch.take(), options)
    } finally {
      await orchestrator.close()
    }
  } finally {
    watch.close()
  }
}

async function report(run: Run, spawns: () => readonly Spawned[], options: BenchOptions): Promise<BenchReport> {
  options.onProgress('spawn')
  for (let i = 0; i < options.spawns; i += 1) await run(1, 0)
  const spawned = spawns().map(({ fromStart }) => fromStart)

  options.onProgress('memory')
  const one = await peakDuring(() => run(1, WAIT_MS))
  const all = await peakDuring(() => run(options.alive, WAIT_MS))

  const throughput = []
  for (const width of options.widths) {
    options.onProgress(`${width} at once`)
    const walls: number[] = []
    for (let i = 0; i < options.repeats; i += 1) walls.push(await run(width, 0))
    const wallMs = spreadOf(walls).median
    throughput.push({ width, wallMs, perSecond: (width / wallMs) * MS_PER_SECOND })
  }
  return {
    version: VERSION,
    node: process.versions.node,
    cores: availableParallelism(),
    spawn: { count: spawned.length, medianMs: quantile(spawned, 0.5), p99Ms: quantile(spawned, 0.99) },
    throughput,
    memory: { agents: options.alive, perAgentMb: Math.max(0, all - one) / (options.alive - 1), peakMb: all },
  }
}

/** Runs a parent with so many sub-agents to its answer; gives the ms it took. */
type Run = (width: number, latencyMs: number) => Promise<number>

function runner(orchestrator: Orchestrator, provider: FakeProvider, files: readonly string[], signal: AbortSignal): Run {
  let latency = Number.NaN
  return async (width, latencyMs) => {
    signal.throwIfAborted()
    if (latency !== latencyMs) await provider.reset({ latencyMs, files, dialect: CADRE_DIALECT })
    latency = latencyMs
    const began = monotonicMs()
    const { success, error } = await orchestrator.run({ prompt: parentPrompt(width), model: SCRIPTED_ID, signal })
    signal.throwIfAborted()
    if (!success) throw new CadreError('INVARIANT', `A run of the bench with ${width} sub-agents failed: ${error ?? 'it said no reason'}`)
    return monotonicMs() - began
  }
}

/** The most resident memory of this process while something runs, in MB. Rejects when it cannot be read: reading it takes a free file. */
async function peakDuring(work: () => Promise<unknown>): Promise<number> {
  let peak = process.memoryUsage.rss()
  const unread = Promise.withResolvers<never>()
  const sampler = setInterval(() => {
    try {
      peak = Math.max(peak, process.memoryUsage.rss())
    } catch (error) {
      unread.reject(error)
    }
  }, SAMPLE_MS)
  try {
    await Promise.race([work(), unread.promise])
    return peak / BYTES_PER_MB
  } finally {
    clearInterval(sampler)
  }
}
