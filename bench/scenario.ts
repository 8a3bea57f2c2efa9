import type { Bench } from './bench.ts'
import type { Figure } from './figure.ts'

/** One thing to measure: a file in bench/scenarios and a line in bench/scenarios.ts. */
export type Scenario = {
  readonly name: string
  /** What it measures, for the list. */
  readonly about: string
  run(bench: Bench): Promise<readonly Figure[]>
}
