import { expect, test } from 'vitest'
import { changes } from '../../bench/compare.ts'
import type { Figure } from '../../bench/figure.ts'
import { judge } from '../../bench/figure.ts'
import { plotsOf } from '../../bench/plot.ts'
import type { Before } from '../../bench/saved-run.ts'

const figure = (name: string, cadre: readonly number[], more: Partial<Figure> = {}): Figure =>
  ({ scenario: 'made-up', name, unit: 'ms', better: 'less', cadre, bare: cadre.map(() => 10), limits: [], ...more })

const saved = (figures: readonly Figure[]): Before =>
  ({ format: 1, date: '2026-01-01T00:00:00Z', quick: false, figures: figures.map(({ scenario, name, unit, cadre }) => ({ scenario, name, unit, cadre: [...cadre] })) })

test('a change counts only where the spreads do not overlap, and by which way is better', () => {
  const before = saved([
    figure('less time', [10, 11, 12]), figure('more time', [10, 11, 12]), figure('within the spread', [10, 11, 12]),
    figure('more per second', [10, 11, 12]), figure('one repeat each', [10]), figure('only before', [1, 1, 1]),
  ])
  const after = [
    figure('less time', [8, 5, 5.5]), figure('more time', [15, 22, 30]), figure('within the spread', [12, 13, 14]),
    figure('more per second', [20, 22, 25], { better: 'more' }), figure('one repeat each', [90]), figure('only after', [1, 1, 1]),
  ]
  expect(changes(before, after).map(({ name, verdict, percent }) => [name, verdict, percent])).toEqual([
    ['less time', 'better', -50], ['more time', 'worse', 100], ['within the spread', 'noise', expect.closeTo(18.18, 1)],
    ['more per second', 'better', 100], ['one repeat each', 'noise', 800],
  ])
})

test('a limit is of the median or of the ratio to bare, and all limits of a figure must be met', () => {
  const limited = (limits: Figure['limits'], cadre = [20, 30, 1_000]) => judge(figure('limited', cadre, { limits })).verdict
  expect(limited([])).toBe('no limit')
  expect(limited([{ of: 'median', most: 30 }])).toBe('met')
  expect(limited([{ of: 'ratio', most: 3 }])).toBe('met')
  expect(limited([{ of: 'ratio', most: 2.9 }])).toBe('missed')
  expect(limited([{ of: 'median', least: 31 }])).toBe('missed')
  expect(limited([{ of: 'median', most: 30 }, { of: 'ratio', most: 1 }])).toBe('missed')
  expect(limited([{ of: 'median', most: 30 }], [])).toBe('missed')
})

test('a plot has one line per latency for each of both, a mark per width, and colours for light and dark', () => {
  const figures = [1, 8, 200].flatMap((width) => [0, 200].flatMap((latency) => [
    judge(figure(`wall, ${width} at ${latency} ms`, [100 + width + latency], { scenario: 'fan-out' })),
    judge(figure(`peak memory, ${width} at ${latency} ms`, [100 + width], { scenario: 'fan-out', unit: 'MB' })),
  ]))
  const plots = plotsOf(figures)
  expect([...plots.keys()]).toEqual(['bench-throughput.svg', 'bench-memory.svg'])
  for (const svg of plots.values()) {
    expect(svg.match(/<path /g)).toHaveLength(4)
    expect([...svg.matchAll(/text-anchor="middle">(\d+)</g)].map(([, width]) => width)).toEqual(['1', '8', '200'])
    expect(svg).toContain('prefers-color-scheme: dark')
    expect(svg).not.toMatch(/NaN|Infinity|undefined/)
    for (const [, y] of svg.matchAll(/ y="([^"]*)"/g)) expect(Number(y)).toBeLessThanOrEqual(400)
  }
  expect(plotsOf([]).size).toBe(0)
})
