import { hash } from 'node:crypto'
import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'

import { readFunctions } from '../../src/tools/reading/index.ts'
import { LineSearch } from '../../src/tools/reading/line-search.ts'
import { contextOf, dataOf, testRoot, textOf } from './place.ts'

const { grep } = readFunctions

describe('TOO-05: grep', () => {
  const tree = { 'src/a.ts': 'one\ntwo needle\nthree\n', 'src/b.ts': 'needle\nneedle Needle\n', 'c.md': '# needle\n', 'bin.dat': 'needle\0\n' }

  test('lines come under their file, with their numbers', async () => {
    const { root } = testRoot(tree)
    expect(await textOf(grep, { pattern: 'needle' }, contextOf(root))).toBe('c.md\n1:# needle\nsrc/a.ts\n2:two needle\nsrc/b.ts\n1:needle\n2:needle Needle\n[1 binary file not searched]')
    expect(await textOf(grep, { pattern: 'nothing like it' }, contextOf(root))).toBe('No matches.\n[1 binary file not searched]')
  })

  test('modes files and count, glob, path and ignore_case narrow and widen as they say', async () => {
    const { root } = testRoot(tree)
    const context = contextOf(root)
    expect(await textOf(grep, { pattern: 'needle', mode: 'files', path: 'src' }, context)).toBe('src/a.ts\nsrc/b.ts')
    expect(await textOf(grep, { pattern: 'needle', mode: 'count', path: 'src' }, context)).toBe('src/a.ts: 1\nsrc/b.ts: 2')
    expect(await textOf(grep, { pattern: 'needle', mode: 'files', glob: '*.md' }, context)).toBe('c.md')
    expect(await textOf(grep, { pattern: 'needle', mode: 'files', glob: '{src,lib}/**' }, context)).toMatch(/^src\/a\.ts\nsrc\/b\.ts/)
    expect(await textOf(grep, { pattern: 'NEEDLE$', ignore_case: true, mode: 'files', path: 'src' }, context)).toBe('src/a.ts\nsrc/b.ts')
    expect(await textOf(grep, { pattern: 'NEEDLE$', path: 'src/b.ts' }, context)).toBe('No matches.')
  })

  test('context lines are marked, never doubled, and gaps are shown', async () => {
    const { root } = testRoot({ f: 'a\nb\nHIT\nc\nHIT\nd\ne\nf\ng\nHIT' })
    expect(await textOf(grep, { pattern: 'HIT', context: 1 }, contextOf(root))).toBe('f\n2-b\n3:HIT\n4-c\n5:HIT\n6-d\n--\n9-g\n10:HIT')
    expect(await dataOf(grep, { pattern: 'HIT', context: 2, limit: 1 }, root)).toMatchObject({ matches: [{ line: 3, before: ['a', 'b'], after: ['c', 'HIT'] }], more: true })
  })

  test('250 matches are a page, and pages follow each other', async () => {
    const { root } = testRoot({ f: 'x\n'.repeat(600) })
    const text = await textOf(grep, { pattern: 'x' }, contextOf(root))
    expect(text.split('\n')).toHaveLength(252)
    expect(text.endsWith('\n[more: offset=250]')).toBe(true)
    const pages = await Promise.all([0, 250, 500].map((offset) => dataOf(grep, { pattern: 'x', offset }, root) as Promise<{ matches: { line: number }[]; more: boolean }>))
    expect(pages.flatMap(({ matches }) => matches.map(({ line }) => line))).toEqual(Array.from({ length: 600 }, (_, at) => at + 1))
    expect(pages.map(({ more }) => more)).toEqual([true, true, false])
  })

  test('exactly as many matches as the page holds are not called a part', async () => {
    const { root } = testRoot({ f: 'x\n'.repeat(250) })
    expect(await textOf(grep, { pattern: 'x' }, contextOf(root))).not.toContain('more')
    expect((await dataOf(grep, { pattern: 'x', mode: 'files', limit: 1 }, root))['more']).toBe(false)
  })

  test('of a line too long to show, 500 characters around the match are shown', async () => {
    const { root } = testRoot({ f: `${'a'.repeat(5_000)}NEEDLE${'b'.repeat(5_000)}` })
    const { matches } = await dataOf(grep, { pattern: 'NEEDLE' }, root) as { matches: { text: string; column: number }[] }
    expect(matches).toEqual([{ path: 'f', line: 1, column: 5_001, text: `…${'a'.repeat(100)}NEEDLE${'b'.repeat(394)}…` }])
  })

  test('a 10 MB line, a 30 MB file of lines, CRLF and a file without an end of line are searched to the end', async () => {
    const { root } = testRoot({
      'one-line': `${'x'.repeat(10_000_000)}NEEDLE`,
      'many-lines': `${'a line of text\r\n'.repeat(2_000_000)}the NEEDLE\r\nend`,
    })
    expect(await dataOf(grep, { pattern: 'NEEDLE$' }, root)).toMatchObject({ matches: [{ path: 'many-lines', line: 2_000_001, text: 'the NEEDLE' }, { path: 'one-line', line: 1, column: 10_000_001 }] })
    expect(await dataOf(grep, { pattern: '^end$' }, root)).toMatchObject({ matches: [{ path: 'many-lines', line: 2_000_002 }] })
  })

  test('bytes that are no UTF-8 do not hide a file, nor the words beside them', async () => {
    const { root } = testRoot({ latin1: Buffer.from([0xe9, 0x20, 0x54, 0x4f, 0x44, 0x4f, 0xe8, 0x0a, 0x54, 0x4f, 0x44, 0x4f]) })
    expect(await dataOf(grep, { pattern: 'TODO(?![\\p{L}])' }, root)).toMatchObject({ matches: [{ line: 2, text: 'TODO' }] })
    expect(await dataOf(grep, { pattern: 'TODOè' }, root)).toMatchObject({ matches: [{ line: 1, text: 'é TODOè' }] })
  })

  test('a pattern that is no regular expression is refused by name', async () => {
    const { root } = testRoot(tree)
    expect(await textOf(grep, { pattern: '(' }, contextOf(root))).toMatch(/^Error: pattern is not a valid regular expression: /)
  })

  test('the outcome rests on every file it searched and every folder it listed', async () => {
    const { root } = testRoot(tree)
    expect((await grep({ pattern: 'x', path: 'src/a.ts' }, contextOf(root))).reads).toEqual([{ path: 'src/a.ts', hash: hash('sha1', tree['src/a.ts']) }])
    expect((await grep({ pattern: 'x' }, contextOf(root))).reads?.map(({ path }) => path).toSorted()).toEqual(['./', 'bin.dat', 'c.md', 'src/', 'src/a.ts', 'src/b.ts'])
  })
})

describe('TOO-05: a search is given up', () => {
  test('by an agent that was stopped', async () => {
    const { root } = testRoot({ a: 'x' })
    await expect(grep({ pattern: 'x' }, { ...contextOf(root), stopped: () => true })).rejects.toThrow('Stopped.')
  })
})

/** The flag `u` for a pattern that is valid with it. */
function unicodeIfValid(pattern: string): string {
  try {
    return new RegExp(pattern, 'u').flags
  } catch {
    return ''
  }
}

describe('the search of a whole text at once', () => {
  /** The plain way: each line on its own. */
  const reference = (pattern: string, flags: string, text: string): readonly number[] => {
    const regex = new RegExp(pattern, flags + (pattern.includes('\\p') || pattern.includes('\\P') ? unicodeIfValid(pattern) : ''))
    const lines = text.replaceAll('\r\n', '\n').split('\n')
    if (lines.at(-1) === '') lines.pop()
    return lines.flatMap((line, at) => (regex.test(line) ? [at + 1] : []))
  }
  const atom = fc.constantFrom(
    'a', 'b', '.', '\\s', '\\S', '\\w', '\\W', '\\d', '\\D', '[ab]', '[^a]', '[^-a]', '[\\s,]', '[\\W]', '[\\w\\W]', '[^\\S]', '[^]', '[]', '\\b', '\\B', '^', '$', '\\n', '\\t', '[\\t-~]', '(?=b)', '(?!a)', '(?<!a)',
    '(?<=\\s)', '(?!\\s)', '(?!$)', '(?<!^)', '(a|b)', '(?:a|)', '(?<n>a)', '\\1', '[^\\n]', '\\x0a', '[a-]', '[^a-]', 'é', '\\u00e9', '\\.', '\\]', '[\\]]', '[\\b]', '\\cJ', '[\\D]', '-', '(?i:A)', '(?m:^)',
    '\\p{L}', '[^\\p{L}]', '[\\p{L} ]', '\\p{Script=Common}', '\\P{L}', '\\p{Cc}', '[\\p{Cc}]', '[\\s\\p{N}]',
  )
  const quantified = fc.tuple(atom, fc.constantFrom('', '', '', '*', '+', '?', '*?', '{2}', '{0,1}')).map(([inner, quantifier]) => `${inner}${quantifier}`)
  const pattern = fc.array(quantified, { minLength: 1, maxLength: 5 }).map((parts) => parts.join('')).filter((source) => {
    try {
      return new RegExp(source) instanceof RegExp
    } catch {
      return false
    }
  })
  const text = fc.string({ unit: fc.constantFrom('a', 'b', ' ', '\n', '\n', '\r\n', '\r', '\t', 'é', '\u2028', ',', '-', '1'), maxLength: 40 })

  test('finds the same lines as a search line by line, for random patterns and texts', () => {
    fc.assert(fc.property(pattern, fc.boolean(), text, (source, ignoreCase, content) => {
      const found: number[] = []
      const search = new LineSearch(source, ignoreCase)
      const normal = LineSearch.normalise(content)
      search.run(normal, (hit) => {
        found.push(hit.line)
        expect(normal.slice(hit.start, hit.end)).not.toContain('\n')
        return true
      })
      expect(found).toEqual(reference(source, ignoreCase ? 'i' : '', content))
    }), { numRuns: Number(process.env['FUZZ_RUNS'] ?? 3_000) })
  })

  test('knows which searches cannot take long', () => {
    const line = `${'x'.repeat(100)}\n`
    for (const quick of ['TODO', '\\b(TODO|FIXME|HACK)\\b', 'foo\\s*\\(', '[A-Z]{3}', '^import .* from']) expect([quick, new LineSearch(quick, false).isQuickOn(line.repeat(50))]).toEqual([quick, true])
    for (const slow of ['(a+)+$', '(a|aa)*$', '(\\w+)\\1', '.*.*.*.*x', '(?:a*)*', '(?:(?:a|b){2,}){2,}c']) expect([slow, new LineSearch(slow, false).isQuickOn(line.repeat(50))]).toEqual([slow, false])
    expect(new LineSearch('.*x', false).isQuickOn('y'.repeat(1_000_000))).toBe(false)
  })
})
