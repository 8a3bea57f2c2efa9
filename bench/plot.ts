import type { Judged } from './figure.ts'
import { spreadOf } from '../src/cli/bench/spread.ts'

/** A line of a plot: values by width, in the order of the widths. */
type Line = { readonly name: string; readonly dash: string; readonly values: readonly number[] }

type Plot = { readonly title: string; readonly unit: string; readonly widths: readonly number[]; readonly lines: readonly Line[] }

/** Pixels. */
const SIZE = { width: 720, height: 400, left: 64, right: 140, top: 48, bottom: 48 }
const TICKS = 5

const WALL = /^wall, (\d+) at (\d+) ms$/
const PEAK = /^peak memory, (\d+) at (\d+) ms$/
const MS_PER_SECOND = 1_000

/** The plots that figures of the fan-out give, by file name: sub-agents per second and peak memory, each by width. Empty for no such figures. */
export function plotsOf(figures: readonly Judged[]): ReadonlyMap<string, string> {
  const throughput = plotOf(figures, WALL, 'Sub-agents finished per second, by how many run at once', '/s', (ms, width) => (width / ms) * MS_PER_SECOND)
  const memory = plotOf(figures, PEAK, 'Peak memory of the whole process, by how many sub-agents run at once', 'MB', (mb) => mb)
  const all = [['bench-throughput.svg', throughput], ['bench-memory.svg', memory]] as const
  return new Map(all.flatMap(([file, plot]) => (plot.widths.length > 1 ? [[file, svg(plot)]] : [])))
}

function plotOf(figures: readonly Judged[], pattern: RegExp, title: string, unit: string, value: (median: number, width: number) => number): Plot {
  const points = figures.filter(({ scenario }) => scenario === 'fan-out').flatMap((figure) => {
    const [, width, latency] = pattern.exec(figure.name) ?? []
    return width === undefined || latency === undefined ? [] : [{ width: Number(width), latency: Number(latency), figure }]
  })
  const widths = [...new Set(points.map(({ width }) => width))].toSorted((a, b) => a - b)
  const latencies = [...new Set(points.map(({ latency }) => latency))].toSorted((a, b) => a - b)
  const lines = latencies.flatMap((latency, i) => (['cadre', 'bare'] as const).map((who): Line => ({
    name: `${who === 'cadre' ? 'Cadre' : 'bare Node'}, ${latency} ms`,
    dash: `${who} ${i > 0 ? 'dashed' : ''}`.trim(),
    values: widths.map((width) => {
      const point = points.find((each) => each.width === width && each.latency === latency)
      return point ? value(spreadOf(point.figure[who]).median, width) : Number.NaN
    }),
  })))
  return { title, unit, widths, lines }
}

/** Colours that can be read on white and on black; the text takes the colour of the page's scheme. */
const STYLE = `
  text { font: 13px system-ui, sans-serif; fill: #24292f } .grid { stroke: #8c959f; stroke-opacity: 0.3 }
  path { fill: none; stroke-width: 2 } .cadre { stroke: #1f7ad1 } .bare { stroke: #d4801f } .dashed { stroke-dasharray: 6 4 }
  @media (prefers-color-scheme: dark) { text { fill: #d1d7e0 } }`

function svg({ title, unit, widths, lines }: Plot): string {
  const { width, height, left, right, top, bottom } = SIZE
  const step = niceStep(Math.max(...lines.flatMap(({ values }) => values.filter(Number.isFinite))) / TICKS)
  const most = step * Math.ceil(Math.max(...lines.flatMap(({ values }) => values.filter(Number.isFinite))) / step)
  const widest = widths.at(-1) ?? 1
  const x = (at: number) => round(left + (at / widest) * (width - left - right))
  const y = (value: number) => round(height - bottom - (value / most) * (height - top - bottom))
  const grid = Array.from({ length: Math.round(most / step) + 1 }, (_, i) => i * step).map((value) =>
    `<line class="grid" x1="${left}" x2="${width - right}" y1="${y(value)}" y2="${y(value)}"/>` +
    `<text x="${left - 8}" y="${y(value) + 4}" text-anchor="end">${value.toLocaleString('en-US')}</text>`)
  const marks = widths.map((at) => `<text x="${x(at)}" y="${height - bottom + 20}" text-anchor="middle">${at}</text>`)
  const ends = apart(lines.map(({ values }) => y(values.at(-1) ?? 0)))
  const drawn = lines.map(({ name, dash, values }, i) => {
    const points = values.flatMap((value, at) => (Number.isFinite(value) ? [`${x(widths[at] ?? 0)} ${y(value)}`] : []))
    return `<path class="${dash}" d="M${points.join(' L')}"/><text x="${width - right + 6}" y="${(ends[i] ?? 0) + 4}">${name}</text>`
  })
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" role="img" aria-label="${title}">`,
    `<style>${STYLE}\n</style>`,
    `<text x="${left}" y="24">${title} (${unit})</text>`,
    ...grid, ...marks, ...drawn,
    `<text x="${width - right}" y="${height - 8}" text-anchor="end">sub-agents at once</text>`,
    '</svg>\n',
  ].join('\n')
}

/** 1, 2 or 5 times a power of ten, at least so large. */
function niceStep(least: number): number {
  const power = 10 ** Math.floor(Math.log10(least))
  return power * ([1, 2, 5, 10].find((factor) => factor * power >= least) ?? 10)
}

const LABEL_HEIGHT = 16

/** Heights of labels, moved down where they would lie on each other. */
function apart(heights: readonly number[]): readonly number[] {
  const placed = [...heights]
  const order = heights.map((_, i) => i).toSorted((a, b) => (heights[a] ?? 0) - (heights[b] ?? 0))
  let last = -Infinity
  for (const i of order) {
    last = Math.max(last + LABEL_HEIGHT, heights[i] ?? 0)
    placed[i] = last
  }
  return placed
}

const round = (value: number): number => Math.round(value * 10) / 10
