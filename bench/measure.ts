import { once } from 'node:events'
import { existsSync, readFileSync, rmSync } from 'node:fs'
import { basename, join } from 'node:path'
import { text } from 'node:stream/consumers'
import { pathToFileURL } from 'node:url'
import { monotonicMs } from '../src/cli/bench/monotonic.ts'
import { startGroup } from './process-group.ts'
import { endedChildrenCpuMs, treeMemory } from './process-tree.ts'

/** A whole process, from its start to its end. CPU is user and system time of all its threads; the peak is of resident memory. */
export type Measured = {
  readonly wallMs: number
  readonly cpuMs: number
  readonly peakMb: number
  readonly stdout: string
  /** Resident memory in MB of the process and those it started, every so often (`sampleMs`). */
  readonly samples: readonly number[]
}

export type Command = {
  /** A program that is not Node: it is measured with all processes it starts, by samples, and to 10 ms of CPU. Linux only. */
  readonly file?: string
  /** Its arguments; without `file`, what Node is to run comes first. */
  readonly argv: readonly string[]
  readonly cwd: string
  readonly env: Readonly<Record<string, string>>
  readonly sampleMs?: number
  /** After so many ms it is ended. */
  readonly longestMs?: number
}

const USAGE = pathToFileURL(join(import.meta.dirname, 'usage.mjs')).href

/** What a failed process said last, in characters. */
const LAST_WORDS = 1_000
const TREE_SAMPLE_MS = 25
/** What takes longer is broken. */
const LONGEST_MS = 180_000

let files = 0

/**
 * Runs a program to its end, which is also the end of whatever it started. Rejects with its last words when it fails or takes too long: half
 * a run is no measurement.
 */
export async function measure(command: Command, temp: string): Promise<Measured> {
  const { file, argv, cwd, env, sampleMs = file === undefined ? 0 : TREE_SAMPLE_MS, longestMs = LONGEST_MS } = command
  const name = basename(file ?? argv[0] ?? '')
  const usage = join(temp, `usage-${files += 1}.json`)
  const samples: number[] = []
  const cpuBefore = endedChildrenCpuMs()
  const began = monotonicMs()
  const { child, end } = file === undefined
    ? startGroup(process.execPath, ['--import', USAGE, ...argv], { cwd, env: { ...env, CADRE_BENCH_USAGE: usage } })
    : startGroup(file, argv, { cwd, env })
  const sampler = sampleMs === 0 ? undefined : setInterval(() => samples.push(treeMemory(child.pid ?? 0)), sampleMs)
  let late = false
  const limit = setTimeout(() => {
    late = true
    end()
  }, longestMs)
  try {
    const [[code, signal], stdout, stderr] = await Promise.all([
      once(child, 'close') as Promise<[number | null, string | null]>, text(child.stdout), text(child.stderr),
    ])
    const wallMs = monotonicMs() - began
    const ending = late ? `was ended after ${longestMs} ms` : `ended with ${code ?? signal}`
    if (late || code !== 0) throw new Error(`${name} ${ending}: ${(stderr + stdout).trim().slice(-LAST_WORDS)}`)
    const used = existsSync(usage)
      ? (JSON.parse(readFileSync(usage, 'utf8')) as { readonly cpuMs: number; readonly peakMb: number })
      : { cpuMs: endedChildrenCpuMs() - cpuBefore, peakMb: Math.max(0, ...samples) }
    rmSync(usage, { force: true })
    return { wallMs, ...used, stdout, samples }
  } finally {
    clearInterval(sampler)
    clearTimeout(limit)
    end()
  }
}
