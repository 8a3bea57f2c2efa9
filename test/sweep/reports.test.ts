import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as fc from 'fast-check'
import { afterEach, describe, expect, test } from 'vitest'
import type { Json } from '../../src/core/json.ts'
import { findingsOf } from '../../src/sweep/findings.ts'
import { failed, fakeDoors, manyFiles, options, resultOf, type Agent, sweep } from './fake-doors.ts'

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

test('a summary is plain data: it survives JSON as it is', async () => {
  const { summary } = await reports(10, noisy)
  expect(JSON.parse(JSON.stringify(summary))).toEqual(summary)
})
