import { describe, expect, test } from 'vitest'
import * as fc from 'fast-check'
import { renderFields } from '../../src/cli/fields.ts'
import { cost, moment, short } from '../../src/cli/figures.ts'
import { shortPath } from '../../src/cli/short-path.ts'
import { styleOf } from '../../src/cli/style.ts'
import type { CliStream } from '../../src/cli/context.ts'
import { figureColumns, renderTable } from '../../src/cli/table.ts'
import { withoutControls } from '../../src/cli/without-controls.ts'
import { wrap } from '../../src/cli/wrap.ts'
import { cells } from '../../src/cli/terminal-text.ts'
import { duration } from '../../src/sweep/figures.ts'

const stream = (facts: Partial<CliStream>) => facts as CliStream
const plain = (width: number) => ({ ...styleOf(stream({}), {}), width })
const ESCAPE = '\u001b'

describe('CMD-07: tables', () => {
  const COLUMNS = [{ title: 'NAME', cut: 'end' }, ...figureColumns('N'), { title: 'FILE', cut: 'start' }] as const

  test('columns are as wide as their content, figures stand right, and the last column has no spaces after it', () => {
    expect(renderTable(COLUMNS, [['a', '1', 'x/y'], ['longer', '1,000', 'z']], plain(Infinity))).toBe(
      'NAME        N  FILE\na           1  x/y\nlonger  1,000  z\n')
  })

  test('on a narrow terminal names lose their end and paths their start', () => {
    expect(
      renderTable(COLUMNS, [['a long name here', '1', 'agents/of/mine.md']], plain(26)),
    ).toBe('NAME        N  FILE\na long na…  1  …of/mine.md\n')
  })

  test('wide characters count as two columns', () => {
    expect(renderTable(COLUMNS, [['日本', '1', 'x'], ['abcd', '2', 'y']], plain(Infinity))).toBe('NAME  N  FILE\n日本  1  x\nabcd  2  y\n')
  })

  test('no rows give nothing', () => {
    expect(renderTable(COLUMNS, [], plain(80))).toBe('')
  })

  test('whatever the cells hold, a row is one line, fits the terminal and moves no cursor', () => {
    const cell = fc.string({ unit: 'binary' })
    const rows = fc.array(fc.tuple(cell, fc.nat(99_999).map(String), cell), { minLength: 1, maxLength: 5 })
    fc.assert(fc.property(rows, fc.integer({ min: 30, max: 120 }), (rows, width) => {
      const lines = renderTable(COLUMNS, rows, plain(width)).split('\n')
      expect(lines).toHaveLength(rows.length + 2)
      for (const line of lines) {
        expect(cells(line)).toBeLessThanOrEqual(width)
        expect(line).not.toMatch(/[\p{Cc}]/u)
      }
    }))
  })
})

describe('texts beside names', () => {
  test('a long text is wrapped beside its name, and null leaves a line out', () => {
    expect(renderFields([['file', 'x'], ['none', null], ['description', 'one two three four']], plain(27))).toBe(
      '  file         x\n  description  one two\n               three four\n')
  })

  test('wrapped lines fit and hold every word, and a word that is too long is cut', () => {
    expect(wrap('', 10)).toEqual([''])
    expect(wrap('a \u001b[31mlongerthanthat b', 8)).toEqual(['a', 'longert…', 'b'])
    fc.assert(fc.property(fc.array(fc.stringMatching(/^[a-z]{1,9}$/)), fc.integer({ min: 9, max: 40 }), (words, width) => {
      const lines = wrap(words.join(' '), width)
      expect(lines.join(' ')).toBe(words.join(' '))
      for (const line of lines) expect(line.length).toBeLessThanOrEqual(width)
    }))
  })

  test('the last line that is allowed is cut', () => {
    expect(wrap('one two three four', 9, 2)).toEqual(['one two', 'three fo…'])
    expect(wrap('one two', 9, 1)).toEqual(['one two'])
  })

  test('a role prompt keeps its lines and loses what moves a cursor or turns text around', () => {
    expect(withoutControls(`a\r\n\tb${ESCAPE}[2J${ESCAPE}]0;title\u0007\u0008\u202ec`)).toBe('a\n\tbc')
  })
})

test('paths are written from the folder one stands in, else from ~, else whole', () => {
  const place = { cwd: '/home/ann/work', userHome: '/home/ann' }
  const TABLE = {
    '/home/ann/work/a/b.md': 'a/b.md',
    '/home/ann/work': '.',
    '/home/ann/x.md': '~/x.md',
    '/etc/x': '/etc/x',
    '/home/ann/work/..x': '..x',
    '/home/annie/x': '/home/annie/x',
  }
  for (const [path, written] of Object.entries(TABLE)) expect(shortPath(path, place)).toBe(written)
})

test('figures are short', () => {
  expect([0, 999, 1_000, 12_345, 999_949, 999_950, 4_500_000].map(short)).toEqual(['0', '999', '1.0k', '12.3k', '999.9k', '1.0M', '4.5M'])
  expect([
    0, 420, 9_999, 12_400, 59_600, 185_000, 3_599_600, 7_620_000,
  ].map(duration)).toEqual(['0.0 s', '0.4 s', '10 s', '12 s', '1 min', '3 min 5 s', '1 h', '2 h 7 min'])
  expect([0, 0.00421, 12.345].map(cost)).toEqual(['–', '$0.0042', '$12.35'])
  expect(moment(new Date(2026, 0, 3, 4, 5).getTime())).toBe('2026-01-03 04:05')
})

describe('CMD-02, SET-03: colour', () => {
  const red = (facts: Partial<CliStream>, env: Record<string, string>) => styleOf(stream(facts), env).paint.red('x')
  test('there is colour on a terminal only, and none with NO_COLOR', () => {
    expect(red({ isTTY: true }, {})).toContain(ESCAPE)
    expect(red({ isTTY: true }, { NO_COLOR: '' })).toContain(ESCAPE)
    expect(red({ isTTY: true }, { NO_COLOR: '1' })).toBe('x')
    expect(red({}, {})).toBe('x')
  })

  test('only a terminal has a width', () => {
    expect([
      styleOf(stream({ isTTY: true, columns: 100 }), {}).width,
      styleOf(stream({ isTTY: true }), {}).width,
      styleOf(stream({ isTTY: true, columns: 3 }), {}).width,
    ]).toEqual([100, 80, 40])
    expect(styleOf(stream({ columns: 100 }), {}).width).toBe(Infinity)
  })
})
