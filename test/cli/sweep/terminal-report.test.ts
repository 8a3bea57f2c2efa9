import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { stripVTControlCharacters } from 'node:util'
import * as fc from 'fast-check'
import { describe, expect, onTestFinished, test } from 'vitest'
import { renderReport } from '../../../src/cli/sweep/terminal-report.ts'
import { cells } from '../../../src/cli/terminal-text.ts'
import { failed, fakeDoors, manyFiles, options, resultOf, type Agent, sweep } from '../../sweep/fake-doors.ts'

/** The summary of a sweep over `count` files. */
async function reports(count: number, agent: Agent) {
  const out = mkdtempSync(join(tmpdir(), 'cadre-sweep-test-'))
  onTestFinished(() => rmSync(out, { recursive: true, force: true }))
  return { summary: await sweep(options({ out }), fakeDoors({ files: manyFiles(count), agent }).doors) }
}
const screen = (summary: Parameters<typeof renderReport>[0], style = {}) =>
  renderReport(summary, { width: 80, colour: false, maxRows: 40, ...style })

describe('the report on a terminal', () => {
  test('shows counts, findings grouped by file, kinds, failures with reasons and what to do next', async () => {
    const { summary } = await reports(4, (_work, [item = '']) =>
      item.includes('3')
        ? failed('The thread ran out of memory.', 'crashed')
        : resultOf({ value: [12, 7].map((line) => ({ file: item, line, kind: line > 9 ? 'FIXME' : 'TODO', message: `look at ${line}` })) }))
    expect(screen({ ...summary, durationMs: 12_345, costUsd: 0.42, files: { results: null, report: null, sarif: null } })).toBe(
      [
        'tester over **/*',
        '3 of 4 items completed; 1 failed; 6 findings; 12 s; $0.42',
        '',
        ...['0', '1', '2'].flatMap((n) => [`src/f000${n}.ts`, '   7  TODO   look at 7', '  12  FIXME  look at 12']),
        '',
        'By kind: 3 FIXME, 3 TODO',
        '',
        'Failed: 1 item',
        '  1  failed (crashed): The thread ran out of memory.',
        '     src/f0003.ts',
        '',
        'Run the same command again for the one failed; finished items are skipped.',
        '',
      ].join('\n'),
    )
  })

  test('an error that hit everyone is said once, with what to do', async () => {
    const { summary } = await reports(500, () => failed('No key. Set ANTHROPIC_API_KEY.', 'setup'))
    const text = screen({ ...summary, failed: 20, left: 480, files: { results: null, report: null, sarif: null } })
    expect(text.match(/ANTHROPIC_API_KEY/g)).toHaveLength(1)
    expect(text).toContain('Stopped early: 0 of 500 items completed; 20 failed; 480 not run')
    expect(text.replaceAll('\n', ' ')).toContain('Mend the cause, then run the same command again for the 20 failed and the 480 not run')
  })

  test('at most maxRows lines of findings and of answers, with the rest counted and --out named', async () => {
    const { summary } = await reports(100, (_work, [item = '']) =>
      item.endsWith('0.ts') ? resultOf({ output: 'fine' }) : resultOf({ value: { file: item, line: 1, message: 'm' } }))
    const text = screen({ ...summary, files: { results: null, report: null, sarif: null } }, { maxRows: 6 })
    expect(text.split('\n').filter((line) => line.startsWith('src/') && !line.endsWith('fine'))).toHaveLength(3)
    expect(text).toContain('… 87 more findings')
    expect(text).toContain('… 4 more answers')
    expect(text).toContain('Add --out <folder> to get everything as files.')
    expect(screen(summary)).toContain('Written:')
  })

  test('no text of an agent or file reaches the terminal as a control sequence, and no line is wider than the terminal', async () => {
    const hostile = fc.string({ unit: 'binary', maxLength: 300 })
    const widths = fc.integer({ min: 40, max: 120 })
    const property = fc.asyncProperty(hostile, hostile, hostile, widths, fc.boolean(), async (file, message, error, width, colour) => {
      const findings = [{ file, line: 1, kind: message, message }, { file: 'x', message }]
      const agent: Agent = ({ title }) => {
        if (title === 'b') return failed(error)
        return title === 'a' ? resultOf({ value: findings }) : resultOf({ output: message })
      }
      const summary = await sweep(options({ over: '-' }), fakeDoors({ lines: ['a', 'b', file, 'c'], agent }).doors)
      const style = { width, colour, maxRows: 10 }
      const lines = stripVTControlCharacters(renderReport(summary, style)).split('\n')
      expect(Math.max(...lines.map(cells))).toBeLessThanOrEqual(width)

      const text = renderReport({ ...summary, reduced: resultOf({ output: message }) }, style)
      expect(stripVTControlCharacters(text).replaceAll('\n', '')).not.toMatch(/[\p{Cc}\u202a-\u202e\u2066-\u2069]/u)
      if (!colour) expect(text).not.toContain('\u001b')
    })
    await fc.assert(property, { numRuns: 200 })
  })
})
