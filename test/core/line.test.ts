import { expect, test } from 'vitest'

import { createLine } from '../../src/core/line.ts'

const never = new AbortController().signal

test('callers are admitted in order of arrival, but for one that goes first, and begin in that very moment', async () => {
  const line = createLine()
  const began: string[] = []
  const joined = ['a', 'b'].map((name) => line.join(never, () => began.push(name)))
  joined.push(line.join(never, () => began.push('urgent'), true))
  expect([line.length, began]).toEqual([3, []])
  line.admit()
  expect([line.length, began]).toEqual([2, ['urgent']])
  line.admit()
  line.admit()
  line.admit()
  expect(began).toEqual(['urgent', 'a', 'b'])
  expect(await Promise.all(joined)).toEqual([2, 3, 1])
})

test('one that gives up leaves the line at once, and one that came too late never joins', async () => {
  const line = createLine()
  const stop = new AbortController()
  const stopped = line.join(stop.signal, () => 'never')
  const next = line.join(never, () => 'next')
  stop.abort(new Error('enough'))
  await expect(stopped).rejects.toThrow('enough')
  await expect(line.join(stop.signal, () => 'never')).rejects.toThrow('enough')
  expect(line.length).toBe(1)
  line.admit()
  expect(await next).toBe('next')
})
