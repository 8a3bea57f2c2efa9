import { readFileSync } from 'node:fs'
import { cpus, release, totalmem } from 'node:os'
import { z } from 'zod'
import { messageOf } from '../src/core/errors.ts'
import { VERSION } from '../src/version.ts'
import type { Judged } from './figure.ts'
import { UsageError } from './options.ts'
import type { PeerResult } from './peer-runs.ts'

/** What a run leaves: enough to repeat it, to judge it, and to compare a later one with it. */
export type SavedRun = {
  readonly format: 1
  /** ISO 8601, UTC. */
  readonly date: string
  readonly machine: { readonly cpu: string; readonly cores: number; readonly memoryMb: number; readonly system: string }
  readonly versions: { readonly cadre: string; readonly node: string; readonly v8: string; readonly sqlite: string }
  readonly quick: boolean
  readonly repeats: number
  readonly figures: readonly Judged[]
  /** Empty without --peers. */
  readonly peers: readonly PeerResult[]
}

const BYTES_PER_MB = 1024 * 1024

export function newRun(run: Pick<SavedRun, 'quick' | 'repeats' | 'figures' | 'peers'>): SavedRun {
  const { node, v8, sqlite = '' } = process.versions
  return {
    format: 1,
    date: new Date().toISOString(),
    machine: {
      cpu: cpus()[0]?.model ?? 'unknown', cores: cpus().length, memoryMb: Math.round(totalmem() / BYTES_PER_MB), system: `${process.platform} ${release()}`,
    },
    versions: { cadre: VERSION, node, v8, sqlite },
    ...run,
  }
}

/** What a comparison reads of a saved run. */
const before = z.object({
  format: z.literal(1),
  date: z.string(),
  quick: z.boolean(),
  figures: z.array(z.object({ scenario: z.string(), name: z.string(), unit: z.string(), cadre: z.array(z.number()).min(1) })),
})

export type Before = z.infer<typeof before>

/** Throws UsageError for what `--save` did not write. */
export function readRun(file: string): Before {
  try {
    return before.parse(JSON.parse(readFileSync(file, 'utf8')))
  } catch (error) {
    const why = error instanceof z.ZodError ? 'it is no run that --save wrote' : messageOf(error)
    throw new UsageError(`${file} cannot be compared with: ${why}`)
  }
}
