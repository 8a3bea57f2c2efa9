import { createHash } from 'node:crypto'
import { stableJson, type JsonObject } from '../core/json.ts'
import type { SweepItem } from './contract.ts'

export type KeyParts = {
  readonly typeHash: string
  /** As the agent gets it: filled in. */
  readonly prompt: string
  readonly items: readonly SweepItem[]
  readonly schema: JsonObject | null
}

/**
 * The name under which a run's end is found again (CMD-05): equal for the same type version, filled prompt, items and schema. The files the
 * agent read are the other half of the key: they are known only after a run, and compared then.
 */
export const sweepKey = (run: KeyParts): string =>
  `sweep-${createHash('sha256').update(stableJson([run.typeHash, run.prompt, run.items, run.schema])).digest('hex')}`
