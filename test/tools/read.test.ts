import { hash } from 'node:crypto'
import { appendFileSync, chmodSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'

import { hashFile, readFunctions } from '../../src/tools/reading/index.ts'
import { contextOf, dataOf, testRoot, textOf } from './place.ts'

const { read, ls } = readFunctions
const numbered = (from: number, lines: readonly string[]) => lines.map((line, at) => `${from + at}\t${line}`).join('\n')

describe('TOO-03: read', () => {
  test('lines are numbered, and what is left is told with the offset to go on from', async () => {
    const lines = Array.from({ length: 5_000 }, (_, at) => `line ${at + 1}`)
    const { root } = testRoot({ 'long.txt': `${lines.join('\n')}\n` })
    expect(await textOf(read, { path: 'long.txt' }, contextOf(root))).toBe(`${numbered(1, lines.slice(0, 2_000))}\n[3000 more lines: offset=2001]`)
    expect(await textOf(read, { path: 'long.txt', offset: 4_001 }, contextOf(root))).toBe(numbered(4_001, lines.slice(4_000)))
    expect(await textOf(read, { path: 'long.txt', offset: 10, limit: 2 }, contextOf(root))).toBe(`${numbered(10, lines.slice(9, 11))}\n[4989 more lines: offset=12]`)
    expect(await textOf(read, { path: 'long.txt', offset: 5_001 }, contextOf(root))).toBe('Error: offset 5001 is past the end: long.txt has 5000 lines')
  })

  test('a line over 2,000 characters is cut with a mark', async () => {
    const { root } = testRoot({ 'wide.txt': `${'x'.repeat(2_500)}\nshort` })
    expect(await textOf(read, { path: 'wide.txt' }, contextOf(root))).toBe(`1\t${'x'.repeat(2_000)}… [500 more characters]\n2\tshort`)
  })

  test('256 KB is the most of one call, in whole lines', async () => {
    const line = 'y'.repeat(999)
    const { root } = testRoot({ 'big.txt': `${line}\n`.repeat(1_000) })
    const text = await textOf(read, { path: 'big.txt' }, contextOf(root))
    expect(text.endsWith('\n[738 more lines: offset=263]')).toBe(true)
    expect(text.split('\n')).toHaveLength(263)
  })

  test('a 10 MB file of one line shows its beginning', async () => {
    const { root } = testRoot({ 'one.js': 'z'.repeat(10_000_000) })
    expect(await textOf(read, { path: 'one.js' }, contextOf(root))).toBe(`1\t${'z'.repeat(2_000)}… [260144 more characters]`)
    expect(await dataOf(read, { path: 'one.js' }, root)).toMatchObject({ from: 1, lines: 1, total: 1, more: 0, cut: true, text: 'z'.repeat(262_144) })
  })

  const odd: readonly [string, string | Buffer, string][] = [
    ['an empty file says so', '', '[the file is empty]'],
    ['a last line without an end counts', 'a\nb', '1\ta\n2\tb'],
    ['an end of line at the end begins no line', 'a\nb\n', '1\ta\n2\tb'],
    ['empty lines keep their numbers', '\n\na\n\n', '1\t\n2\t\n3\ta\n4\t'],
    ['CRLF is shown as a plain end of line', 'a\r\nb\r\n', '1\ta\n2\tb'],
    ['a byte order mark is not shown', '\u{feff}a\n', '1\ta'],
    ['bytes that are no UTF-8 are read as Latin-1', Buffer.from([0x63, 0x61, 0x66, 0xe9, 0x0a, 0xc3, 0xa9]), '1\tcafé\n2\té'],
    ['a NUL behind the first 8,000 bytes makes no binary file', Buffer.concat([Buffer.alloc(8_000, 97), Buffer.from('\0')]), `1\t${'a'.repeat(2_000)}… [6001 more characters]`],
    ['a NUL before that does', Buffer.concat([Buffer.alloc(7_999, 97), Buffer.from('\0')]), 'Error: odd is binary (8000 bytes)'],
  ]
  for (const [title, content, shown] of odd) {
    test(title, async () => {
      const { root } = testRoot({ odd: content })
      expect(await textOf(read, { path: 'odd' }, contextOf(root))).toBe(shown)
    })
  }

  test('a missing file is answered with similar names, also for a folder that is missing', async () => {
    const { root } = testRoot({ 'src/util.ts': '', 'src/unity.ts': '', 'src/other.md': '', 'lib/x.ts': '' })
    expect(await textOf(read, { path: 'src/utils.ts' }, contextOf(root))).toBe('Error: No such file: src/utils.ts. Similar: util.ts, unity.ts')
    expect(await textOf(read, { path: 'src/UTIL.TS' }, contextOf(root))).toMatch(/^Error: No such file: src\/UTIL\.TS\. Similar: util\.ts/)
    expect(await textOf(read, { path: 'zzzzzzzzzzzz' }, contextOf(root))).toBe('Error: No such file: zzzzzzzzzzzz.')
    expect(await textOf(read, { path: 'src/util.ts/x' }, contextOf(root))).toMatch(/^Error: No such file: src\/util\.ts\/x/)
  })

  test('a folder is answered with the tools for folders', async () => {
    const { root } = testRoot({ 'src/a': '' })
    expect(await textOf(read, { path: 'src' }, contextOf(root))).toBe('Error: src is a folder: use ls or glob')
  })

  test('names with spaces, quotes, newlines and other scripts are read, and control characters are shown quoted', async () => {
    const names = ['a b.txt', 'quo"te', "it's", '日本語.md', 'new\nline', 'tab\there', '-rf', '[x]*?']
    const { root } = testRoot(Object.fromEntries(names.map((name) => [name, name])))
    for (const name of names) expect((await dataOf(read, { path: name }, root))['text']).toBe(name)
    expect(await textOf(read, { path: 'no\nsuch' }, contextOf(root))).toMatch(/^Error: No such file: "no\\nsuch"\./)
    expect((await textOf(ls, {}, contextOf(root))).split('\n')).toHaveLength(names.length)
  })

  test('a program gets the raw text of whole lines, and can page through any file without loss', async () => {
    await fc.assert(fc.asyncProperty(fc.array(fc.string({ unit: fc.constantFrom('a', 'é', '\n', '\r', '日', ' ') }), { maxLength: 30 }), fc.integer({ min: 1, max: 5 }), async (parts, limit) => {
      const content = parts.join('')
      const { root } = testRoot({ f: content })
      let text = ''
      let more = 1
      for (let offset = 1; more > 0;) {
        const page = await dataOf(read, { path: 'f', offset, limit }, root) as { text: string; more: number; lines: number; from: number }
        text += page.text
        more = page.more
        offset = page.from + page.lines
      }
      expect(text).toBe(content)
    }), { numRuns: 60 })
  })

  test('the outcome rests on the file and its content, however little of it was shown', async () => {
    const content = 'line\n'.repeat(300_000)
    const { root } = testRoot({ 'sub/f': content })
    const { reads } = await read({ path: 'sub/../sub/f', limit: 1 }, contextOf(root))
    expect(reads).toEqual([{ path: 'sub/f', hash: hash('sha1', content) }])
    expect(hashFile(root, 'sub/f')).toBe(hash('sha1', content))
    appendFileSync(join(root, 'sub/f'), 'x')
    expect(hashFile(root, 'sub/f')).not.toBe(hash('sha1', content))
    expect(hashFile(root, 'gone')).toBe(null)
  })

  test.skipIf(process.getuid?.() === 0)('a file that may not be read says why', async () => {
    const { root } = testRoot({ f: 'x' })
    chmodSync(join(root, 'f'), 0)
    expect(await textOf(read, { path: 'f' }, contextOf(root))).toBe('Error: Cannot open f: EACCES')
  })
})

describe('TOO-04: ls', () => {
  test('folders come first, then files and links by name, with sizes', async () => {
    const { root } = testRoot({ 'b.txt': 'four', 'a/x': '', 'z/y': '', '.dot': '' })
    expect(await textOf(ls, {}, contextOf(root))).toBe('a/\nz/\n.dot  0 B\nb.txt  4 B')
    expect(await dataOf(ls, { path: 'a' }, root)).toEqual({ path: 'a', entries: [{ name: 'x', kind: 'file', size: 0 }], more: 0, ignored: 0, unreadable: 0 })
  })

  test('at most 1,000 entries are shown, and the rest is counted', async () => {
    const { root } = testRoot()
    for (let at = 0; at < 1_005; at += 1) writeFileSync(join(root, `f${String(at).padStart(4, '0')}`), '')
    const text = await textOf(ls, {}, contextOf(root))
    expect(text.split('\n')).toHaveLength(1_001)
    expect(text.endsWith('[5 more entries: use glob]')).toBe(true)
  })

  test('a file or nothing is no folder', async () => {
    const { root } = testRoot({ f: '' })
    mkdirSync(join(root, 'empty'))
    expect(await textOf(ls, { path: 'f' }, contextOf(root))).toBe('Error: f is not a folder')
    expect(await textOf(ls, { path: 'nope' }, contextOf(root))).toMatch(/^Error: No such file: nope/)
    expect(await textOf(ls, { path: 'empty' }, contextOf(root))).toBe('[the folder is empty]')
  })
})
