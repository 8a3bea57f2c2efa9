import { expect, onTestFinished, test, vi } from 'vitest'
import { createRunClock } from '../../src/schedule/run-clock.ts'

/** A clock under a time that only the test moves. */
function moved() {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] })
  onTestFinished(() => void vi.useRealTimers())
  return (ms: number) => vi.advanceTimersByTimeAsync(ms)
}

test('counts from its start, with what an earlier process ran (KIN-12)', async () => {
  const pass = moved()
  const clock = createRunClock(500)
  await pass(1_000)
  expect([clock.started, clock.elapsedMs()]).toEqual([false, 500])
  clock.start()
  await pass(250)
  expect([clock.started, clock.elapsedMs()]).toEqual([true, 750])
})

test('waits count for nothing, also when they overlap or fail, and an alarm rings after so much running time', async () => {
  const pass = moved()
  const clock = createRunClock(100)
  clock.start()
  const rung: number[] = []
  clock.at(400, () => void rung.push(clock.elapsedMs()))
  const calledOff = clock.at(300, () => void rung.push(-1))
  const [one, two] = [Promise.withResolvers<string>(), Promise.withResolvers<string>()]
  const waits = [clock.without(() => one.promise), clock.without(() => two.promise)]
  await pass(10_000)
  one.resolve('one')
  await pass(10_000)
  expect(rung).toEqual([])
  two.reject(new Error('two'))
  expect(await Promise.allSettled(waits)).toMatchObject([{ value: 'one' }, { status: 'rejected' }])
  expect(clock.elapsedMs()).toBe(100)
  calledOff()
  await pass(299)
  expect(rung).toEqual([])
  await pass(1)
  expect(rung).toEqual([400])
})

test('an alarm farther away than a timer can be set does not ring at once', async () => {
  const pass = moved()
  const clock = createRunClock()
  clock.start()
  let rung = false
  clock.at(2 ** 31 + 1_000, () => { rung = true })
  await pass(2 ** 31)
  expect(rung).toBe(false)
  await pass(1_000)
  expect(rung).toBe(true)
})
