import { describe, expect, test } from 'vitest'

import type { Reply } from '../../src/core/contract.ts'
import { CadreError } from '../../src/core/errors.ts'
import { Stopped } from '../../src/core/stopped.ts'
import type { History } from '../../src/core/summary.ts'
import { createCompactor } from '../../src/host/compactor.ts'
import { prompt, turnMessages } from './histories.ts'

const USAGE = { input: 900, output: 50, cacheRead: 0, cacheWrite: 0 }
const LONG: History = {
  messages: [prompt('Find it.'), ...Array.from({ length: 20 }, (_, i) => turnMessages(`t${i}`, { outcomes: ['z'.repeat(1_500)] })).flat()], keepFirst: 1, turn: 20,
}

/** A compactor whose model answers with these texts, or fails with these errors, in turn. */
function compactorOf(...answers: readonly (string | Error)[]) {
  let asked = 0
  const controller = new AbortController()
  const compactor = createCompactor({
    system: 'You are a sub-agent.', tools: [], window: 10_000, compactAt: 0.8, signal: controller.signal,
    ask(): Promise<Reply> {
      const answer = answers[asked] ?? 'more'
      asked += 1
      return answer instanceof Error ? Promise.reject(answer) : Promise.resolve({ text: answer, calls: [], usage: USAGE, model: 'p/m' })
    },
  })
  return { compactor, asked: () => asked, abort: (reason: Error) => controller.abort(reason) }
}

describe('PRO-08: compaction of a running agent', () => {
  test('older turns become one summary, which is what the journal gets, with what it cost', async () => {
    const { compactor } = compactorOf('It is in a.ts:4.')
    const done = await compactor.run(LONG, { used: null })
    expect(done?.summary).toEqual({ text: expect.stringMatching(/summary of it:\n\nIt is in a\.ts:4\.$/), turns: 10, model: 'p/m', usage: USAGE })
    expect(done?.history.messages).toHaveLength(2 + 20)
    expect(done?.spent).toEqual({ model: 'p/m', usage: USAGE })
    expect(await compactor.run(done?.history ?? LONG, { used: null })).toBeNull()
  })

  for (const [title, answer, why] of [
    ['empty', ' \n', 'the summary came back empty'],
    ['longer than what it replaces', 'x'.repeat(100_000), 'the summary was longer than what it stands for'],
    ['refused by the provider', new CadreError('MODEL', 'p/m failed: no'), 'p/m failed: no'],
  ] as const) {
    test(`a summary that is ${title} loses nothing: one note, and the model is not asked for one again`, async () => {
      const { compactor, asked } = compactorOf(answer)
      const done = await compactor.run(LONG, { used: null })
      expect(done).toMatchObject({ history: LONG, summary: null, note: `Its history is long and could not be summed up (${why}); it went on with the whole of it.` })
      expect(done?.spent).toEqual(answer instanceof Error ? null : { model: 'p/m', usage: USAGE })
      expect(await compactor.run(LONG, { used: null })).toBeNull()
      expect(asked()).toBe(1)
      expect((await compactor.run(LONG, { used: null, forced: true }))?.summary).not.toBeNull()
    })
  }

  test('a stop is passed on, not taken for a summary that failed', async () => {
    const stop = new Stopped({ ending: { status: 'partial', cause: 'budget' }, reason: 'Budget: used up.' })
    await expect(compactorOf(stop).compactor.run(LONG, { used: null })).rejects.toBe(stop)
    const { compactor, abort } = compactorOf(new Error('aborted'))
    const reason = new Error('killed')
    abort(reason)
    await expect(compactor.run(LONG, { used: null })).rejects.toBe(reason)
  })
})
