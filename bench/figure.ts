import { spreadOf } from '../src/cli/bench/spread.ts'
import type { Spread } from '../src/cli/bench/spread.ts'

export type Unit = 'ms' | 'MB' | 'bytes' | '/s' | '×' | '%' | 'agents'

/** What issue 3 asks of a figure: of its median, or of the ratio to bare. */
export type Limit = { readonly of: 'median' | 'ratio'; readonly most?: number; readonly least?: number }

/** One thing measured, in interleaved repeats: as Cadre does it, and as bare Node does the same work. */
export type Figure = {
  readonly scenario: string
  readonly name: string
  readonly unit: Unit
  /** Which way is better. */
  readonly better: 'less' | 'more'
  readonly cadre: readonly number[]
  readonly bare: readonly number[]
  readonly limits: readonly Limit[]
}

export type Verdict = 'met' | 'missed' | 'no limit'

export type Judged = Figure & {
  readonly spread: { readonly cadre: Spread; readonly bare: Spread }
  /** Cadre's median by bare's: under 1 is less than bare. */
  readonly ratio: number
  readonly verdict: Verdict
}

export function judge(figure: Figure): Judged {
  const spread = { cadre: spreadOf(figure.cadre), bare: spreadOf(figure.bare) }
  const ratio = spread.cadre.median / spread.bare.median
  const kept = figure.limits.every(({ of, most = Infinity, least = -Infinity }) => {
    const value = of === 'ratio' ? ratio : spread.cadre.median
    return value <= most && value >= least
  })
  return { ...figure, spread, ratio, verdict: figure.limits.length === 0 ? 'no limit' : kept ? 'met' : 'missed' }
}
