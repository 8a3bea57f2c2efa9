import type { Scenario } from './scenario.ts'
import { crossing } from './scenarios/crossing.ts'
import { fanOutScenario } from './scenarios/fan-out.ts'
import { isolate } from './scenarios/isolate.ts'
import { journal } from './scenarios/journal.ts'
import { memory } from './scenarios/memory.ts'
import { reload } from './scenarios/reload.ts'
import { request } from './scenarios/request.ts'
import { spawn } from './scenarios/spawn.ts'
import { sweep } from './scenarios/sweep.ts'

/** All there are, in the order they run. */
export const SCENARIOS: readonly Scenario[] = [spawn, crossing, fanOutScenario, memory, request, sweep, journal, reload, isolate]
