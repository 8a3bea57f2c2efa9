import type { Scenario } from './scenario.ts'
import { crossing } from './scenarios/crossing.ts'
import { fanOutScenario } from './scenarios/fan-out.ts'
import { spawn } from './scenarios/spawn.ts'

/** All there are, in the order they run. */
export const SCENARIOS: readonly Scenario[] = [
  spawn,
  crossing,
  fanOutScenario,
]
