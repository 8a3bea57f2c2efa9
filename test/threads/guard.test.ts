import { afterAll, afterEach, beforeEach, describe, expect, test } from 'vitest'

import type { Host } from '../../src/core/contract.ts'
import { createThreads } from '../../src/threads/runner.ts'
import { attacks } from './attacks.ts'
import { falseAnswers } from './false-answers.ts'
import { brief, ESCAPE, FALSE_ANSWERS, local, MISBEHAVING, never, remote, scripted } from './scripted.ts'

const faults: unknown[] = []
const note = (fault: unknown) => void faults.push(fault)

beforeEach(() => {
  faults.length = 0
  process.on('unhandledRejection', note).on('uncaughtException', note)
})
afterEach(async () => {
  await new Promise((resolve) => { setTimeout(resolve, 20) })
  process.off('unhandledRejection', note).off('uncaughtException', note)
  expect(faults).toEqual([])
})

describe('SHL-07', () => {
  const hostile = createThreads({ entry: ESCAPE, max: 2 })
  const lying = createThreads({ entry: FALSE_ANSWERS, max: 2 })
  const honest = createThreads({ entry: MISBEHAVING, max: 2 })
  afterAll(() => Promise.all([hostile.close(), lying.close(), honest.close()]))

  for (const attack of Object.keys(attacks)) {
    test(`a thread that sends ${attack} is ended, and nothing is done for it`, async () => {
      const { host, handed, asked } = scripted([])
      // A flood and two calls at once begin with a call like any other: its answer comes later than the next message.
      const slow: Host = { ...host, next: (outcomes) => (handed.length === 0 ? host.next(outcomes) : new Promise(() => void handed.push(outcomes))) }
      const run = hostile.run({ brief: brief('a1', { type: attack }), host: slow, signal: never() })
      await expect(run).rejects.toMatchObject({ code: 'GUARD', message: expect.stringMatching(/^The thread of agent a1 .* it asked for what no thread may \(.{1,200}\)/) })
      expect(asked).toEqual([])
      expect(handed).toEqual(attack === 'a flood' || attack === 'two calls at once' ? [[], []] : [[]])
      expect(Object.hasOwn(Object.prototype, 'polluted')).toBe(false)
    })
  }

  test('the error names what was asked for', async () => {
    const run = hostile.run({ brief: brief('a1', { type: 'a property path' }), host: scripted([]).host, signal: never() })
    await expect(run).rejects.toThrow('(APPLY constructor.constructor)')
  })

  for (const answer of Object.keys(falseAnswers)) {
    test(`an answer that is ${answer} is not taken for a report, nor for outcomes`, async () => {
      const run = lying.run({ brief: brief('a1', { type: answer }), host: scripted([[local('echo')]]).host, signal: never() })
      await expect(run).rejects.toMatchObject({ code: 'GUARD' })
      const calls = lying.calls({ brief: brief('a1', { type: answer }), calls: [local('echo')], signal: never() })
      await expect(calls).rejects.toMatchObject({ code: 'GUARD' })
    })
  }

  test('a call runs as the main side gave it, whatever the thread holds of it', async () => {
    const { host, asked } = scripted([[remote('bash', { command: 'ls' })]])
    await honest.run({ brief: brief(), host, signal: never() })
    expect(asked).toEqual([[remote('bash', { command: 'ls' })]])
  })

  test('agents in other threads go on while one is being ended', async () => {
    const ended = Promise.allSettled(Object.keys(attacks).slice(0, 6).map((type) => hostile.run({ brief: brief('bad', { type }), host: scripted([]).host, signal: never() })))
    const { host } = scripted([[local('later', { text: 'x', ms: 50 })], [local('echo', { text: 'y' })]])
    await expect(honest.run({ brief: brief(), host, signal: never() })).resolves.toEqual({ text: 'done', turns: 3 })
    await ended
  })
})
