import { assert, date, double, oneof, property, string } from 'fast-check'
import { expect, test } from 'vitest'
import { retryAfter } from '../../src/models/retry-after.ts'

const NOW = Date.parse('2026-01-01T00:00:00Z')

test.each([
  [{ 'retry-after': '3' }, 3_000],
  [{ 'retry-after': '0.25' }, 250],
  [{ 'retry-after': ' 12 ' }, 12_000],
  [{ 'retry-after': 'Thu, 01 Jan 2026 00:00:30 GMT' }, 30_000],
  [{ 'retry-after-ms': '1500', 'retry-after': '60' }, 1_500],
  [{ 'retry-after': '0' }, null],
  [{ 'retry-after': '-5' }, null],
  [{ 'retry-after': 'Wed, 31 Dec 2025 00:00:00 GMT' }, null],
  [{ 'retry-after': 'soon' }, null],
  [{ 'retry-after': '' }, null],
  [{}, null],
  [{ 'retry-after': '99999999999' }, 2 ** 31 - 1],
])('%j asks to wait %s ms', (headers, ms) => {
  expect(retryAfter(headers, NOW)).toBe(ms)
})

test('whatever a server writes, the wait is one a timer can keep', () => {
  assert(property(oneof(string(), double().map(String), date().map(String)), (value) => {
    const wait = retryAfter({ 'retry-after': value }, NOW)
    expect(wait === null || (Number.isInteger(wait) && wait > 0 && wait < 2 ** 31)).toBe(true)
  }))
})
