/** What verifying told of a row of branches, each on top of the ones before it. */
export type GreenPrefix = {
  /** How many from the start are good together. */
  readonly green: number
  /** What was said about the first one that is not; null when all are good. */
  readonly log: string | null
}

/**
 * Finds the longest good beginning of a row of `count` by halving (WKT-11): one run when all are good, else 1 + ⌈log₂ count⌉ at most. `verify(n)` looks
 * at the first n; none at all counts as good. Rejects as it does.
 */
export async function greenPrefix(count: number, verify: (first: number) => Promise<{ readonly ok: boolean; readonly log: string }>): Promise<GreenPrefix> {
  const whole = await verify(count)
  if (whole.ok) return { green: count, log: null }
  let [green, red, log] = [0, count, whole.log]
  while (red - green > 1) {
    const middle = Math.floor((green + red) / 2)
    const part = await verify(middle)
    if (part.ok) green = middle
    else [red, log] = [middle, part.log]
  }
  return { green, log }
}
