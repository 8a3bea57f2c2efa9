import { availableParallelism } from 'node:os'

/**
 * A thread costs 10 to 25 ms of CPU to start, a task in a warm one often less than that. So threads start a few at a time (`atOnce`), and beyond
 * that number of threads only when no task has ended for `quietMs`, as with agents that wait for their models, or the first in line has waited
 * for `patienceMs`, as behind agents that hang.
 */
export const GROWTH = { atOnce: Math.max(2, availableParallelism()), quietMs: 10, patienceMs: 100 }

/** The threads there are, `starting` ones among them; the tasks handed to them; how long ago a task ended, and how long the first in line waits. */
export type Crowd = {
  readonly threads: number
  readonly starting: number
  readonly tasks: number
  readonly max: number
  readonly sinceEndMs: number
  readonly waitedMs: number
}

/** Whether the first task in line, for which no thread is idle, gets a new one. */
export function mayGrow({ threads, starting, tasks, max, sinceEndMs, waitedMs }: Crowd): boolean {
  if (threads >= max || starting >= GROWTH.atOnce) return false
  if (threads > tasks) return false // one of them has no task: it is on its way, or about to be free
  return threads < GROWTH.atOnce || sinceEndMs >= GROWTH.quietMs || waitedMs >= GROWTH.patienceMs
}
