import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { verdictOf } from '../../src/verify/verdict.ts'

describe('VER-03: the verdict of a report', () => {
  for (const [report, verdict] of [
    ['VERDICT: PASS', 'PASS'],
    ['All is there.\n\nVERDICT: PASS\n', 'PASS'],
    ['verdict: fail', 'FAIL'],
    ['Verdict: Partial.', 'PARTIAL'],
    ['**VERDICT: PASS**', 'PASS'],
    ['**VERDICT:** `PASS`', 'PASS'],
    ['**Verdict**: _PASS_', 'PASS'],
    ['__VERDICT: PASS__', 'PASS'],
    ['VERDICT:PASS', 'PASS'],
    ['VERDICT:\nFAIL', 'FAIL'],
    ['VERDICT: PASS - all was done', 'PASS'],
    ['VERDICT: FAIL, the tests do not pass', 'FAIL'],
    ['VERDICT: PASS\nNo, wait.\nVERDICT: FAIL', 'FAIL'],
    ['VERDICT: FAIL\nMended since.\nVERDICT: PASS', 'PASS'],
    ['', null],
    ['It looks good to me: PASS', null],
    ['VERDICT', null],
    ['VERDICT:', null],
    ['VERDICT: ', null],
    ['VERDICT PASS', null],
    ['VERDICT: PASSED', null],
    ['VERDICT: PASS_WITH_REMARKS', null],
    ['VERDICT: PASS-ish', null],
    ['VERDICT: NOT PASS', null],
    ['VERDICT: the changes PASS', null],
    ['VERDICT: PASS or FAIL', null],
    ['VERDICT: PASS|FAIL|PARTIAL', null],
    ['VERDICT: FAIL/PASS', null],
    ['VERDICT: PASS (PARTIAL for b.ts)', null],
    ['VERDICT: PASS\nI end with VERDICT: ???', null],
    ['VERDICT: FAIL\nVERDICT: PASSING', null],
    ['NOVERDICT: PASS', null],
  ] as const) {
    test(`${JSON.stringify(report)} is ${verdict ?? 'none'}`, () => {
      expect(verdictOf(report)).toBe(verdict)
    })
  }

  test('whatever comes before it, and in whatever case, the last one counts', () => {
    const word = fc.constantFrom('PASS', 'FAIL', 'PARTIAL')
    const cased = fc.tuple(word, fc.boolean(), fc.boolean()).map(([text, head, tail]) => ({ text, written: `${head ? 'verdict' : 'VERDICT'}: ${tail ? text.toLowerCase() : text}` }))
    fc.assert(fc.property(fc.string({ unit: 'binary' }), fc.array(cased, { maxLength: 4 }), cased, (noise, before, last) => {
      expect(verdictOf([noise, ...before.map(({ written }) => written), last.written].join('\n'))).toBe(last.text)
    }))
  })

  test('what is grown onto PASS makes it none', () => {
    fc.assert(fc.property(fc.stringMatching(/^[A-Za-z0-9]{1,5}$/), (more) => {
      expect(verdictOf(`VERDICT: PASS${more}`)).toBe(null)
    }))
  })

  test('a long report takes no long time to read', () => {
    expect(verdictOf(`${'VERDICT: * _ '.repeat(200_000)}\nVERDICT: PASS`)).toBe('PASS')
    expect(verdictOf(`VERDICT:${' '.repeat(1_000_000)}`)).toBe(null)
    expect(verdictOf(`VERDICT${'*'.repeat(1_000_000)}`)).toBe(null)
  })
})
