import { availableParallelism } from 'node:os'

/** Threads that can make use of the machine at a time. */
const WORKING = Math.max(2, availableParallelism())

/**
 * A thread costs 10 to 50 ms of CPU to start and 3 to 8 MB, a turn's calls in a warm one less than 1 ms. So there are as many threads as can make
 * use of the machine (`working`), beside those whose tasks wait for something outside, and those whose tasks have been busy for `stuckMs` on end;
 * of the latter at most `stuck`, because work that is merely long is not done sooner in more threads.
 */
export const GROWTH = { working: WORKING, stuckMs: 500, stuck: 4 * WORKING }

/** The threads there are, those on their way among them, and the tasks that wait or are stuck. */
export type Crowd = { readonly threads: number; readonly starting: number; readonly waiting: number; readonly stuck: number; readonly max: number }

/** Whether the first task in line, for which no thread is idle, gets a new one. */
export const mayGrow = ({ threads, starting, waiting, stuck, max }: Crowd): boolean =>
  threads < max && starting < GROWTH.working && threads - waiting - Math.min(stuck, GROWTH.stuck) < GROWTH.working
