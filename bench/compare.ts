import { spreadOf } from '../src/cli/bench/spread.ts'
import type { Spread } from '../src/cli/bench/spread.ts'
import { figureColumns, renderTable } from '../src/cli/table.ts'
import type { Style } from '../src/cli/style.ts'
import type { Figure } from './figure.ts'
import type { Before } from './saved-run.ts'
import { spreadText } from './table.ts'

/** `noise`: the spreads overlap, or are of too few repeats, so the medians prove nothing. */
export type ChangeVerdict = 'better' | 'worse' | 'noise'

export type Change = Pick<Figure, 'scenario' | 'name' | 'unit'> & {
  readonly before: Spread
  readonly after: Spread
  /** Of the medians, in percent of the earlier one. */
  readonly percent: number
  readonly verdict: ChangeVerdict
}

/** Repeats below which nothing is a change. */
const LEAST_REPEATS = 3

/** Cadre's own figures, for all that both runs measured. */
export function changes(before: Before, after: readonly Figure[]): readonly Change[] {
  return after.flatMap((figure) => {
    const earlier = before.figures.find(({ scenario, name }) => scenario === figure.scenario && name === figure.name)
    return earlier ? [changeOf(earlier.cadre, figure)] : []
  })
}

function changeOf(earlier: readonly number[], { scenario, name, unit, better, cadre }: Figure): Change {
  const before = spreadOf(earlier)
  const after = spreadOf(cadre)
  const few = Math.min(earlier.length, cadre.length) < LEAST_REPEATS
  const overlap = before.min <= after.max && after.min <= before.max
  const less = after.median < before.median
  const verdict = few || overlap ? 'noise' : less === (better === 'less') ? 'better' : 'worse'
  return { scenario, name, unit, before, after, percent: (after.median / before.median - 1) * 100, verdict }
}

const COLUMNS = [{ title: 'scenario' }, { title: 'measured' }, ...figureColumns('before', '', 'after', 'change'), { title: '' }]

export const renderChanges = (list: readonly Change[], style: Style): string =>
  renderTable(COLUMNS, list.map(({ scenario, name, unit, before, after, percent, verdict }) => [
    scenario, name, spreadText(before, unit), '→', spreadText(after, unit), `${percent > 0 ? '+' : ''}${percent.toFixed(1)} %`,
    verdict === 'noise' ? { text: verdict, paint: style.paint.dim } : { text: verdict, paint: verdict === 'better' ? style.paint.green : style.paint.red },
  ]), style)
