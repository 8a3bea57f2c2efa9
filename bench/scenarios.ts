import type { Scenario } from './scenario.ts'
import { fanOutScenario } from './scenarios/fan-out.ts'

/** All there are, in the order they run. */
export const SCENARIOS: readonly Scenario[] = [
  fanOutScenario,
]
