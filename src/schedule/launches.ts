/** How often something may begin: at most `perSecond` times in any second (KIN-08). */
export type Launches = {
  /** ms until the next one is due; 0: now. */
  wait(): number
  /** Notes one. */
  note(): void
}

const SECOND_MS = 1_000

export function createLaunches(perSecond: number, now: () => number = () => performance.now()): Launches {
  /** When the last ones began, oldest first: never more than `perSecond`. */
  const begun: number[] = []
  return {
    wait() {
      const oldest = begun[0]
      return oldest === undefined || begun.length < perSecond ? 0 : Math.max(0, oldest + SECOND_MS - now())
    },
    note() {
      begun.push(now())
      if (begun.length > perSecond) begun.shift()
    },
  }
}
