import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { stripVTControlCharacters } from 'node:util'
import * as fc from 'fast-check'
import { afterEach, describe, expect, test } from 'vitest'
import type { Json } from '../../src/core/json.ts'
import { findingsOf } from '../../src/sweep/findings.ts'
import { sweep } from '../../src/sweep/sweep.ts'
import { renderReport } from '../../src/sweep/terminal-report.ts'
import { cells } from '../../src/sweep/terminal-text.ts'
import { failed, fakeDoors, manyFiles, options, resultOf, type Agent } from './fake-doors.ts'

const folders: string[] = []
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true })
})

/** A sweep over `count` files, its reports read back. */
async function reports(count: number, agent: Agent, given: Parameters<typeof options>[0] = {}) {
  const out = mkdtempSync(join(tmpdir(), 'cadre-sweep-test-'))
  folders.push(out)
  const summary = await sweep(options({ out, ...given }), fakeDoors({ files: manyFiles(count), agent }).doors)
  const read = (path: string | null) => (path === null ? null : readFileSync(path, 'utf8'))
  return { summary, markdown: read(summary.files.report) ?? '', sarif: read(summary.files.sarif) }
}
const screen = (summary: Parameters<typeof renderReport>[0], style = {}) =>
  renderReport(summary, { width: 80, colour: false, maxRows: 40, ...style })

describe('CMD-12 which values carry findings', () => {
  const finding = { file: 'a.ts', line: 3, column: null, kind: 'agent', level: 'warning', message: 'bad' }
  const cases: readonly (readonly [string, Json, readonly object[]])[] = [
    ['the value itself', { file: 'a.ts', line: 3, message: 'bad' }, [finding]],
    ['a list', [{ file: 'a.ts', line: 3, message: 'bad' }, 'noise', null], [finding]],
    ['a list under findings', { checked: 7, findings: [{ file: './a.ts', line: '3', message: ' bad ' }] }, [finding]],
    ['per item of a batch', { items: [{ item: 'x', findings: [{ file: 'a.ts', line: 3, message: 'bad' }] }] }, [finding]],
    ['path and text, as search tools name them', [{ path: 'a.ts', line: 3, text: 'bad' }], [finding]],
    [
      'its own kind, level and column',
      [{ file: 'a.ts', line: 3, message: 'bad', kind: 'TODO', severity: 'High', column: 9 }],
      [{ ...finding, kind: 'TODO', level: 'error', column: 9 }],
    ],
    ['no line: the whole file', { file: 'a.ts', line: null, message: 'bad' }, [{ ...finding, line: null }]],
    ['a line that is none', { file: 'a.ts', line: -1.5, message: 'bad' }, [{ ...finding, line: null }]],
    ['no message', { file: 'a.ts', line: 3 }, []],
    ['a blank file', { file: ' ', line: 3, message: 'bad' }, []],
    ['a text', 'file a.ts line 3', []],
    ['nothing', null, []],
  ]
  for (const [what, value, expected] of cases) {
    test(what, () => expect(findingsOf(value, 'agent')).toEqual(expected))
  }

  test('any value at all is read without a throw', () => {
    fc.assert(fc.property(fc.jsonValue(), (value) => {
      expect(Array.isArray(findingsOf(value as Json, 'agent'))).toBe(true)
    }))
  })
})

const noisy: Agent = (_work, [item = '']) => {
  if (item.includes('3')) return failed(`<script> | *it* broke on ${item}`, 'crashed')
  return resultOf({
    value: [
      { file: item, line: 2, kind: 'TODO', message: 'a | b\n`c` <img src=x> [link](http://x)' },
      { file: 'dir name/ä#?.ts', kind: 'secret', level: 'error', message: 'key \u001b[2J\u001b]0;title\u0007\u202Ereversed' },
    ],
  })
}

describe('CMD-12 report.sarif', () => {
  test('is SARIF 2.1.0: every result has a rule, a level, a text and a place that a viewer can resolve', async () => {
    const log = JSON.parse((await reports(10, noisy)).sarif ?? '')
    expect(log).toMatchObject({ $schema: 'https://json.schemastore.org/sarif-2.1.0.json', version: '2.1.0' })
    expect(log.runs).toHaveLength(1)
    const [{ tool: { driver }, results }] = log.runs
    expect(driver.name).toBe('cadre')
    expect(driver.rules.map(({ id }: { id: string }) => id).toSorted()).toEqual(['TODO', 'secret'])
    expect(results).toHaveLength(18)
    for (const { ruleId, ruleIndex, level, message, locations } of results) {
      expect(driver.rules[ruleIndex].id).toBe(ruleId)
      expect(['error', 'warning', 'note']).toContain(level)
      expect(message.text.length).toBeGreaterThan(0)
      const { artifactLocation, region } = locations[0].physicalLocation
      expect(artifactLocation.uriBaseId).toBe('%SRCROOT%')
      expect(new URL(artifactLocation.uri, 'file:///repo/').hash).toBe('')
      if (ruleId === 'TODO') expect(region).toEqual({ startLine: 2 })
      else expect(region).toBeUndefined()
    }
    const secret = results.find(({ ruleId }: { ruleId: string }) => ruleId === 'secret')
    expect(secret.locations[0].physicalLocation.artifactLocation.uri).toBe('dir%20name/%C3%A4%23%3F.ts')
  })

  test('lists findings in the order of the items, whoever finished first; without a kind their rule is the agent', async () => {
    const agent: Agent = async (_work, [item = '']) => {
      for (let turn = Number(/\d+/.exec(item)?.[0]); turn < 9; turn += 1) await new Promise((resolve) => setImmediate(resolve))
      return resultOf({ value: { file: item, line: 1, message: 'm' } })
    }
    const [run] = JSON.parse((await reports(9, agent, { parallel: 9 })).sarif ?? '').runs
    const uris = run.results.map(({ locations }: { locations: [{ physicalLocation: { artifactLocation: { uri: string } } }] }) =>
      locations[0].physicalLocation.artifactLocation.uri)
    expect(uris).toEqual(Object.keys(manyFiles(9)))
    expect(run.tool.driver.rules.map(({ id }: { id: string }) => id)).toEqual(['tester'])
  })

  test('a file name no URL can hold (half a surrogate pair) and an absolute one do not break it', async () => {
    const agent: Agent = () => resultOf({ value: [{ file: 'a\uD800b', message: 'm' }, { file: '/etc/hosts x', line: 1, message: 'm' }] })
    const [run] = JSON.parse((await reports(1, agent)).sarif ?? '').runs
    expect(run.results[0].locations[0].physicalLocation.artifactLocation.uri).toBe('a%EF%BF%BDb')
    expect(run.results[1].locations[0].physicalLocation.artifactLocation).toEqual({ uri: 'file:///etc/hosts%20x' })
  })
})

describe('CMD-12 report.md', () => {
  test('counts first, then failures with their causes, then findings by kind and place', async () => {
    const { markdown } = await reports(10, noisy)
    expect(markdown.replace(/\d+\.\d s/, '<t> s').split('\n').filter((line) => /^#|^\d|^Run/.test(line))).toEqual([
      '# Sweep: tester over \\*\\*/\\*',
      '9 of 10 items completed; 1 failed; 18 findings; <t> s.',
      'Run the same command again for the one failed; finished items are skipped.',
      '## Failures (1)',
      '## Findings (18)',
    ])
    expect(markdown).toContain('| secret | 9 |')
    expect(markdown).toContain('| src/f0000.ts:2 | TODO | warning | a \\| b \\`c\\` &lt;img src=x> \\[link\\](http://x) |')
    expect(markdown.indexOf('| dir name/ä\\#?.ts | secret')).toBeLessThan(markdown.indexOf('| src/f0000.ts:2'))
  })

  test('no text of an agent can add a column, a row, a tag or a heading', async () => {
    const { markdown } = await reports(10, noisy)
    const tables = markdown.trimEnd().split('\n\n').filter((block) => block.startsWith('|')).map((block) => block.split('\n'))
    expect(tables.map((rows) => rows.length - 2)).toEqual([1, 2, 18])
    for (const rows of tables) expect(new Set(rows.map((row) => row.replaceAll('\\|', '').split('|').length)).size).toBe(1)
    expect(markdown.split('\n').filter((line) => line.startsWith('#'))).toHaveLength(3)
    expect(markdown).not.toMatch(/<(script|img)/)
    expect(markdown.replaceAll('\n', '')).not.toMatch(/\p{Cc}/u)
  })

  test('answers that are no findings are listed per item', async () => {
    const { markdown, sarif } = await reports(2, (_work, [item = '']) => resultOf({ output: `about ${item}` }))
    expect(markdown).toContain('## Answers (2)')
    expect(markdown).toContain('| src/f0001.ts | about src/f0001.ts |')
    expect(sarif).toBeNull()
  })
})

describe('CMD-12 an item without findings is no answer', () => {
  const nothing: readonly Json[] = [[], {}, { findings: [], counts: { TODO: 0 }, summary: 'Nothing found.' }, { items: [{ findings: [], files: 1 }] }]
  for (const value of nothing) {
    test(JSON.stringify(value), async () => expect((await reports(1, () => resultOf({ value }))).summary.answers.total).toBe(0))
  }
  for (const value of [0, false, [1], { ok: true }, { findings: ['two words'] }]) {
    test(`but ${JSON.stringify(value)} is one`, async () => {
      expect((await reports(1, () => resultOf({ value }))).summary.answers.total).toBe(1)
    })
  }
})

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

  test('a summary that is plain data: it survives JSON as it is', async () => {
    const { summary } = await reports(10, noisy)
    expect(JSON.parse(JSON.stringify(summary))).toEqual(summary)
  })
})
