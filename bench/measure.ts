import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { pathToFileURL } from 'node:url'
import { monotonicMs } from '../src/cli/bench/monotonic.ts'
import { treeMemory } from './tree-memory.ts'

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
  /** What Node is to run, with its arguments. */
  readonly argv: readonly string[]
  readonly cwd: string
  readonly env: Readonly<Record<string, string>>
  readonly sampleMs?: number
}

const USAGE = pathToFileURL(join(import.meta.dirname, 'usage.mjs')).href

/** What a failed process said last, in characters. */
const LAST_WORDS = 1_000

let files = 0

/** Runs a Node program to its end. Rejects with its last words when it fails: half a run is no measurement. */
export async function measure({ argv, cwd, env, sampleMs }: Command, temp: string): Promise<Measured> {
  const file = join(temp, `usage-${files += 1}.json`)
  const samples: number[] = []
  const began = monotonicMs()
  const child = spawn(process.execPath, ['--import', USAGE, ...argv], {
    cwd, stdio: ['ignore', 'pipe', 'pipe'], env: { ...env, CADRE_BENCH_USAGE: file },
  })
  const sampler = sampleMs === undefined ? undefined : setInterval(() => samples.push(treeMemory(child.pid ?? 0)), sampleMs)
  try {
    const [[code], stdout, stderr] = await Promise.all([once(child, 'close') as Promise<[number | null]>, text(child.stdout), text(child.stderr)])
    const wallMs = monotonicMs() - began
    if (code !== 0) throw new Error(`${argv.join(' ')} ended with ${code}: ${(stderr + stdout).slice(-LAST_WORDS)}`)
    const used = JSON.parse(readFileSync(file, 'utf8')) as { readonly cpuMs: number; readonly peakMb: number }
    rmSync(file)
    return { wallMs, ...used, stdout, samples }
  } finally {
    clearInterval(sampler)
  }
}
