import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { failed, fakeDoors, manyFiles, options, resultOf, sweep } from './fake-doors.ts'

type Round = {
  readonly parallel: number
  readonly stopAfter: number | null
  readonly picks: readonly number[]
  readonly fails: readonly boolean[]
}

/**
 * Each round: how many agents may start before the sweep is interrupted, and which of the waiting agents ends next, and how. When the
 * rounds are used up, the last sweep runs to its end without failures.
 */
const round = fc.record({
  parallel: fc.integer({ min: 1, max: 6 }),
  stopAfter: fc.option(fc.integer({ min: 0, max: 12 }), { nil: null }),
  picks: fc.array(fc.nat(5), { minLength: 1, maxLength: 20 }),
  fails: fc.array(fc.boolean(), { minLength: 1, maxLength: 20 }),
})

test('CMD-05 however agents interleave, fail and are interrupted, every item completes once and stands in results.jsonl once', async () => {
  const [counts, batches, plays] = [fc.integer({ min: 1, max: 25 }), fc.integer({ min: 1, max: 4 }), fc.array(round, { maxLength: 4 })]
  await fc.assert(
    fc.asyncProperty(counts, batches, plays, async (count, batch, rounds) => {
      const out = mkdtempSync(join(tmpdir(), 'cadre-sweep-test-'))
      try {
        const completed: string[] = []
        const calm = { parallel: 3, stopAfter: null, picks: [0], fails: [false] }
        let play: Round = calm
        let [starts, ends] = [0, 0]
        let stopped = new AbortController()
        const waiting: (() => void)[] = []
        const { doors } = fakeDoors({
          files: manyFiles(count),
          async agent(work, items) {
            starts += 1
            if (play.stopAfter !== null && starts > play.stopAfter) stopped.abort()
            await new Promise<void>((resolve) => {
              waiting.push(resolve)
              // Once nothing else can happen, some waiting agent ends, chosen by the round.
              setImmediate(() => waiting.splice((play.picks[ends % play.picks.length] ?? 0) % waiting.length, 1)[0]?.())
            })
            const fails = play.fails[ends % play.fails.length]
            ends += 1
            if (fails) return work.signal.aborted ? resultOf({ status: 'killed', cause: 'user' }) : failed('broke')
            completed.push(...items)
            return resultOf({ value: { items: [...items] } })
          },
        })
        for (play of [...rounds, calm]) {
          stopped = new AbortController()
          starts = 0
          const summary = await sweep(options({ out, batch, parallel: play.parallel, signal: stopped.signal }), doors)
          expect(summary.completed + summary.failed + summary.left).toBe(count)
        }
        const inFile: readonly string[] = readFileSync(join(out, 'results.jsonl'), 'utf8').trimEnd().split('\n').flatMap((line) => {
          const { item, items, status } = JSON.parse(line)
          return status === 'completed' ? (items ?? [item]) : []
        })
        expect(completed.toSorted()).toEqual(Object.keys(manyFiles(count)))
        expect(inFile.toSorted()).toEqual(Object.keys(manyFiles(count)))
      } finally {
        rmSync(out, { recursive: true, force: true })
      }
    }),
    { numRuns: 60 },
  )
})
