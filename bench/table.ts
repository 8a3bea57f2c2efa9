import { figureColumns, renderTable } from '../src/cli/table.ts'
import type { Style } from '../src/cli/style.ts'
import type { Spread } from '../src/cli/bench/spread.ts'
import { count } from '../src/sweep/figures.ts'
import type { Judged, Limit, Unit } from './figure.ts'

const COLUMNS = [{ title: 'scenario' }, { title: 'measured' }, ...figureColumns('bare', 'cadre', 'ratio'), { title: 'limit' }]

/** One row a figure: medians with their spread, the ratio to bare, and whether the limit is met. */
export const renderFigures = (figures: readonly Judged[], style: Style): string =>
  renderTable(COLUMNS, figures.map(({ scenario, name, unit, spread, ratio, limits, verdict }) => {
    const limit = limits.map((limit) => limitText(limit, unit)).join(', ')
    return [
      scenario, name, spreadText(spread.bare, unit), spreadText(spread.cadre, unit), `${number(ratio)} ×`,
      verdict === 'no limit' ? '–' : { text: `${limit}: ${verdict}`, paint: verdict === 'met' ? style.paint.green : style.paint.red },
    ]
  }), style)

/** `12.3 ms (11.9–14.0)`. */
export const spreadText = ({ median, min, max }: Spread, unit: Unit): string => `${number(median)} ${unit} (${number(min)}–${number(max)})`

const limitText = ({ of, most, least }: Limit, unit: Unit): string =>
  `${most === undefined ? `≥ ${number(least ?? 0)}` : `≤ ${number(most)}`} ${of === 'ratio' ? '×' : unit}`

/** Three digits that mean something; whole numbers above them. */
export function number(value: number): string {
  if (Math.abs(value) >= 1_000) return count(Math.round(value))
  return Number.isInteger(value) ? String(value) : value.toPrecision(3)
}
