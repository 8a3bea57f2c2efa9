/** Of repeated measurements: what lies in the middle, and how far they are apart. */
export type Spread = { readonly median: number; readonly min: number; readonly max: number }

/** All NaN for no measurement. */
export function spreadOf(values: readonly number[]): Spread {
  return { median: quantile(values, 0.5), min: quantile(values, 0), max: quantile(values, 1) }
}

/** The value that so large a share of all lies at or below; between two, in proportion. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b)
  const at = (sorted.length - 1) * share
  const low = sorted[Math.floor(at)] ?? Number.NaN
  const high = sorted[Math.ceil(at)] ?? Number.NaN
  return low + (high - low) * (at % 1)
}
