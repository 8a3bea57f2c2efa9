import { assert, dictionary, jsonValue, property, string } from 'fast-check'
import { describe, expect, test } from 'vitest'
import { readCsv } from '../../src/sweep/csv.ts'
import { readItems } from '../../src/sweep/items.ts'
import { readJsonl } from '../../src/sweep/jsonl.ts'
import { splitPatterns } from '../../src/sweep/patterns.ts'
import { fakeDoors } from './fake-doors.ts'

const never = new AbortController().signal
const nothingIsOwn = () => false
type Given = Parameters<typeof fakeDoors>[0]
const read = (over: string, given: Given, signal = never) => readItems(over, fakeDoors(given).doors, nothingIsOwn, signal)
const names = async (over: string, given: Given) => (await read(over, given)).items.map(({ item }) => item)

describe('CMD-05 items of a CSV file', () => {
  test('a row is an item and its cells fill the columns of the header, quotes, commas, line breaks, BOM and CRLF included', () => {
    const { items, columns } = readCsv('\uFEFFname, note\r\na,"x, ""y"""\r\n"b\nc",\r\n', 'rows.csv')
    expect(columns).toEqual(['name', 'note'])
    expect(items.map((item) => item.columns)).toEqual([{ name: 'a', note: 'x, "y"' }, { name: 'b\nc', note: '' }])
    expect(items[0]?.item).toBe('{"name":"a","note":"x, \\"y\\""}')
  })

  for (const delimiter of [';', '\t']) {
    test(`columns may be separated by ${JSON.stringify(delimiter)}, and cells still hold commas`, () => {
      expect(readCsv(`a${delimiter}b\n1,5${delimiter}2\n`, 'rows.csv').items[0]?.columns).toEqual({ a: '1,5', b: '2' })
    })
  }

  test('a column called __proto__ is a column like any other', () => {
    const [row] = readCsv('__proto__,constructor\nx,y\n', 'rows.csv').items
    expect(Object.entries(row?.columns ?? {})).toEqual([['__proto__', 'x'], ['constructor', 'y']])
    expect(({} as Record<string, unknown>)['x']).toBeUndefined()
  })

  const bad: readonly (readonly [string, string, RegExp])[] = [
    ['a row with too many cells', 'a,b\n1,2\n1,2,3\n', /rows\.csv cannot be read as CSV: .*line 3/],
    ['a row with too few cells', 'a,b\n1\n', /rows\.csv cannot be read as CSV: .*line 2/],
    ['a quote that never ends', 'a,b\n1,2\n1,"2\n', /rows\.csv cannot be read as CSV: .*line/],
    ['two columns with one name', 'a,a\n1,2\n', /rows\.csv line 1: two columns are called "a"/],
    ['a column without a name', 'a,,c\n1,2,3\n', /rows\.csv line 1: column 2 has no name/],
    ['nothing at all', '', /rows\.csv is empty/],
  ]
  for (const [what, text, message] of bad) {
    test(`${what} is one error that names the place, and nothing is run`, () => {
      expect(() => readCsv(text, 'rows.csv')).toThrow(expect.objectContaining({ code: 'USAGE', message: expect.stringMatching(message) }))
    })
  }
})

describe('CMD-05 items of a JSONL file', () => {
  test('an object is a row, a string is an item, blank lines are nothing', () => {
    const { items, columns } = readJsonl('\uFEFF{"a":1,"b":"x","c":null,"d":[1]}\r\n\n"just text"\n{"e":true}', 'rows.jsonl')
    expect(columns).toEqual(['a', 'b', 'c', 'd', 'e'])
    expect(items).toEqual([
      { item: '{"a":1,"b":"x","c":null,"d":[1]}', columns: { a: '1', b: 'x', c: '', d: '[1]' } },
      { item: 'just text', columns: {} },
      { item: '{"e":true}', columns: { e: 'true' } },
    ])
  })

  for (const [line, what] of [['{"a":', 'is not JSON'], ['[1]', 'is an array'], ['null', 'is null'], ['7', 'is a number']] as const) {
    test(`the line ${line} is an error that names its line`, () => {
      expect(() => readJsonl(`{"a":1}\n\n${line}\n`, 'rows.jsonl')).toThrow(new RegExp(`rows\\.jsonl line 3 ${what}`))
    })
  }
})

describe('CMD-05 rows of JSONL that differ stay apart, and as they were written', () => {
  const numbers = ['12345678901234567890', '12345678901234567891', '1', '1.0', '1e0', '1e400', '-0', '0', '0.1', '0.10000000000000000001', '1E-999']
  test('numbers are in columns and items with every digit, inside lists and objects too', async () => {
    const rows = numbers.map((number) => `{"id":${number},"in":[{"a":[${number}]}]}`)
    const { items, duplicates } = await read('rows.jsonl', { files: { 'rows.jsonl': rows.join('\n') } })
    expect(duplicates).toBe(0)
    expect(items.map(({ item }) => item)).toEqual(rows)
    expect(items.map(({ columns }) => columns)).toEqual(numbers.map((number) => ({ id: number, in: `[{"a":[${number}]}]` })))
  })

  test('blanks between tokens make no other row', async () => {
    expect(await read('rows.jsonl', { files: { 'rows.jsonl': '{"a":[1.0,2]}\n { "a" : [ 1.0 , 2 ] }\r\n' } })).toMatchObject({ duplicates: 1, items: { length: 1 } })
  })

  test('a key that stands twice in one object is an error: one of its values would be lost', () => {
    for (const line of ['{"a":1,"a":2}', '{"b":{"c":"x:","c" : "y"}}', String.raw`{"a":1,"\u0061":1}`, '{"__proto__":1,"__proto__":2}']) {
      expect(() => readJsonl(`{"a":1}\n${line}`, 'rows.jsonl'), line).toThrow(/rows\.jsonl line 2 is not JSON \(an object has the same key twice\)/)
    }
  })

  test('any JSON object is one row, and its item is the same JSON', () => {
    assert(property(dictionary(string(), jsonValue()), (row) => {
      const text = JSON.stringify(row)
      const { items } = readJsonl(text, 'rows.jsonl')
      expect(items.map(({ item }) => item)).toEqual([text])
      expect(Object.keys(items[0]?.columns ?? {})).toEqual(Object.keys(JSON.parse(text) as object))
    }))
  })
})

describe('CMD-05 a table that is not UTF-8 is one usage error that says so', () => {
  const utf16 = Buffer.from('name\nA\n', 'utf16le')
  const cases: readonly (readonly [what: string, bytes: Buffer, said: RegExp])[] = [
    ['Latin-1', Buffer.from('name\nok\nMüller\n', 'latin1'), / line 3 is not UTF-8; .*Convert rows\.\w+ to UTF-8/],
    ['a character cut off at the end', Buffer.from('name\nü').subarray(0, -1), / line 2 is not UTF-8/],
    ['UTF-16 with its mark', Buffer.concat([Buffer.from([0xff, 0xfe]), utf16]), / is UTF-16; /],
    ['UTF-16 the other way round', Buffer.concat([Buffer.from([0xff, 0xfe]), utf16]).swap16(), / is UTF-16; /],
    ['UTF-16 without it', utf16, / is UTF-16 or binary/],
  ]
  for (const [what, bytes, said] of cases) {
    for (const name of ['rows.csv', 'rows.jsonl']) {
      test(`${what} as ${name}`, async () => {
        await expect(read(name, { readFile: async () => bytes })).rejects.toMatchObject({ code: 'USAGE', message: expect.stringMatching(said) })
      })
    }
  }

  test('a question mark for a lost character, written as such, is UTF-8', async () => {
    expect(await names('rows.csv', { files: { 'rows.csv': 'a\n\uFFFD\n' } })).toEqual(['{"a":"\uFFFD"}'])
  })
})

describe('CMD-05 items by pattern', () => {
  const cases: readonly (readonly [string, readonly string[], readonly string[]])[] = [
    ['src/**', ['src/**'], []],
    ['a/*.ts, b/*.{js,ts}', ['a/*.ts', 'b/*.{js,ts}'], []],
    ['**/*,!**/*.test.ts', ['**/*'], ['**/*.test.ts']],
    ['!vendor/**', ['**/*'], ['vendor/**']],
    ['!(a|b),@(c,d)', ['!(a|b)', '@(c,d)'], []],
    ['[a,b]*.ts', ['[a,b]*.ts'], []],
    [String.raw`a\,b.ts,c\*`, ['a,b.ts', String.raw`c\*`], []],
    [',,', [], []],
  ]
  for (const [over, take, leave] of cases) {
    test(`${over} takes ${take.join(' and ') || 'nothing'} and leaves out ${leave.join(' and ') || 'nothing'}`, () => {
      expect(splitPatterns(over)).toEqual({ take, leave })
    })
  }

  const files = { 'src/a.ts': '', 'src/a.test.ts': '', 'lib/b.ts': '', 'data.csv': 'h\n1\n' }
  test('several patterns give each file once, sorted; ! takes files away wherever it stands', async () => {
    expect(await names('src/**,!**/*.test.ts,**/*.ts', { files })).toEqual(['lib/b.ts', 'src/a.ts'])
  })

  test('a pattern that matches a CSV file sweeps over the file, its bare name over its rows', async () => {
    expect(await names('*.csv', { files })).toEqual(['data.csv'])
    expect(await names('data.csv', { files })).toEqual(['{"h":"1"}'])
  })
})

test('CMD-05 a table may have brackets and commas in its name', async () => {
  const files = { 'data (1), new.csv': 'h\n1\n', 'a.csv': 'h\n2\n', 'b.csv': 'h\n3\n' }
  expect(await names('data (1), new.csv', { files })).toEqual(['{"h":"1"}'])
  expect(await names('a.csv,b.csv', { files })).toEqual(['a.csv', 'b.csv'])
})

describe('CMD-05 items from stdin', () => {
  test('every line that is not blank is an item; equal ones run once and are counted', async () => {
    const found = await read('-', { lines: ['\uFEFFa', 'b\r', '', '  ', 'a', ' a'] })
    expect(found.items.map(({ item }) => item)).toEqual(['a', 'b', ' a'])
    expect(found.duplicates).toBe(1)
  })

  test('a terminal that never sends a line does not keep an interrupted sweep waiting', async () => {
    const stopped = new AbortController()
    const stdin = async function* () {
      yield 'one'
      await new Promise(() => undefined)
    }
    const reading = read('-', { stdin }, stopped.signal)
    setImmediate(() => stopped.abort())
    expect((await reading).items).toEqual([{ item: 'one', columns: {} }])
  })
})

describe('CMD-03 nothing to sweep over is a usage error that says so', () => {
  const cases: readonly (readonly [string, Parameters<typeof fakeDoors>[0], RegExp])[] = [
    ['src/*.zig', { files: { 'src/a.ts': '' } }, /no file matches src\/\*\.zig/],
    ['', {}, /an empty pattern/],
    ['-', { lines: ['', ' '] }, /stdin held no lines/],
    ['rows.csv', { files: { 'rows.csv': 'a,b\n' } }, /rows\.csv has no rows/],
    ['rows.jsonl', { files: { 'rows.jsonl': '\n' } }, /rows\.jsonl has no rows/],
    ['missing.csv', {}, /missing\.csv cannot be read: No such file/],
  ]
  for (const [over, given, message] of cases) {
    test(`--over ${JSON.stringify(over)}`, async () => {
      await expect(read(over, given)).rejects.toMatchObject({ code: 'USAGE', message: expect.stringMatching(message) })
    })
  }
})
