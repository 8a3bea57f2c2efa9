import { availableParallelism } from 'node:os'

/**
 * A thread costs 10 to 50 ms of CPU to start and 3 to 8 MB, a turn's calls in a warm one less than 1 ms. So there are as many threads as tasks can
 * make use of at a time (`working`), beside those that are away: they wait for something outside, or have been busy for `stuckMs` on end.
 */
export const GROWTH = { working: Math.max(2, availableParallelism()), stuckMs: 100 }

/** The threads there are, those on their way and those away among them. */
export type Crowd = { readonly threads: number; readonly starting: number; readonly away: number; readonly max: number }

/** Whether the first task in line, for which no thread is idle, gets a new one. */
export const mayGrow = ({ threads, starting, away, max }: Crowd): boolean =>
  threads < max && starting < GROWTH.working && threads - away < GROWTH.working
