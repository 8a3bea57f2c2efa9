import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { composer } from '../../src/sweep/prompts.ts'
import { parseTemplate } from '../../src/sweep/template.ts'

const row = (columns: Record<string, string>) => ({ item: JSON.stringify(columns), columns })
const file = (item: string) => ({ item, columns: {} })
const filled = (prompt: string, columns: Record<string, string>) => parseTemplate(prompt, Object.keys(columns)).forItem(row(columns))

describe('CMD-05 a prompt is filled in per item', () => {
  const cases: readonly (readonly [string, string])[] = [
    ['Check {name} of {First Name}', 'Check tom of Tom'],
    ['{item}', '{"name":"tom","First Name":"Tom","über":"ü"}'],
    ['{über}', 'ü'],
    ['Answer as {"findings": [{"file": "a"}]}', 'Answer as {"findings": [{"file": "a"}]}'],
    ['{"who":{name}}', '{"who":tom}'],
    ['vue {{ name }} and {{name}} and {{{name}}}', 'vue {{ name }} and {{name}} and {{{name}}}'],
    [String.raw`literally \{name}, really {name}`, 'literally {name}, really tom'],
    ['a template literal ${name} and ${other}', 'a template literal ${name} and ${other}'],
    ['code {} { } {a: 1} { x, y } {\n}', 'code {} { } {a: 1} { x, y } {\n}'],
  ]
  for (const [prompt, expected] of cases) {
    test(prompt.replaceAll('\n', '⏎'), () => {
      expect(filled(prompt, { name: 'tom', 'First Name': 'Tom', über: 'ü' })).toBe(expected)
    })
  }

  test('a column called item is that column', () => {
    expect(filled('{item}', { item: 'apple' })).toBe('apple')
  })

  test('a value is put in as it is: no value is ever read as a template', () => {
    fc.assert(fc.property(fc.string(), fc.string(), (a, b) => {
      expect(filled('<{a}|{b}>', { a, b })).toBe(`<${a}|${b}>`)
    }))
  })

  test('a name that is no column is one error with all such names and the columns there are', () => {
    expect(() => parseTemplate('Review {path} by {owner} for {item}, {path}', ['file', 'team'])).toThrow(
      'The prompt uses {path}, {owner}, which are no columns of the items. ' +
        'It can use: {item}, {file}, {team}. Write \\{path} for the text itself.',
    )
  })

  test('a JSONL row without a column the prompt uses is an error that shows the row', () => {
    const template = parseTemplate('{a} {b}', ['a', 'b'])
    expect(() => template.forItem(row({ a: '1' }))).toThrow('The prompt uses {b}, but this row has no such column: {"a":"1"}')
    expect(() => parseTemplate('{constructor}', ['constructor']).forItem(row({}))).toThrow('no such column')
  })
})

describe('CMD-05 what an agent is given', () => {
  test('without a prompt: JSON of its items and their columns, as a program reads it', () => {
    const prompt = composer(null, ['a'])([row({ a: '1' }), file('x')])
    expect(JSON.parse(prompt)).toEqual({ items: [{ item: '{"a":"1"}', a: '1' }, { item: 'x' }] })
  })

  test('with one item: the filled prompt', () => {
    expect(composer('Review {item}.', [])([file('a.ts')])).toBe('Review a.ts.')
  })

  test('--batch: the filled prompts, numbered', () => {
    const prompt = composer('Review {item}.', [])([file('a.ts'), file('b.ts')])
    expect(prompt).toBe('Do each of these 2 tasks.\n\n1. Review a.ts.\n\n2. Review b.ts.')
  })

  test('a prompt that names no column gets its items below it', () => {
    expect(composer('Find bugs', [])([file('a.ts')])).toBe('Find bugs\n\na.ts')
    expect(composer('Find bugs', [])([file('a.ts'), file('b.ts')])).toBe('Find bugs\n\n1. a.ts\n\n2. b.ts')
  })

  test('a blank prompt is a usage error', () => {
    expect(() => composer(' \n', [])).toThrow(expect.objectContaining({ code: 'USAGE' }))
  })
})
