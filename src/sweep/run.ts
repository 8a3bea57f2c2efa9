import { setImmediate as nextTurn } from 'node:timers/promises'
import { CadreError } from '../core/errors.ts'
import { titleOf, type Batch } from './batches.ts'
import type { SweepAgents, SweepOptions, SweepRun, SweepWork } from './contract.ts'
import { finishedBefore } from './finished-before.ts'
import type { Found } from './items.ts'
import { sweepKey } from './key.ts'
import type { Outcome } from './outcome.ts'
import { pool } from './pool.ts'
import type { Compose } from './prompts.ts'
import type { ResultsFile } from './results-file.ts'
import type { SweepSummary } from './summary.ts'
import { createSystemicWatch } from './systemic.ts'
import { createTally } from './tally.ts'

/** Batches whose files are hashed at the same time. */
const CHECKS_AT_ONCE = 32
const NO_FILES: SweepSummary['files'] = { results: null, report: null, sarif: null }

export type Run = {
  /** Records the batches that need not be run again; answers the rest, in order. */
  skipFinished(batches: readonly Batch[]): Promise<readonly Batch[]>
  /** Runs these. Rejects with what `doors.start` or the disk threw, once nothing is running any more. */
  start(pending: readonly Batch[]): Promise<void>
  summary(reduced: SweepSummary['reduced'], files?: SweepSummary['files']): SweepSummary
}

export type RunParts = {
  readonly options: SweepOptions
  readonly doors: SweepAgents
  readonly found: Found
  readonly compose: Compose
  readonly file: ResultsFile | null
  /** `performance.now()` of the start. */
  readonly started: number
}

/** The state of one sweep: counts and the first few of everything, never the results themselves. */
export function createRun({ options, doors, found, compose, file, started }: RunParts): Run {
  const tally = createTally(doors.agent)
  const watch = createSystemicWatch()
  const stop = new AbortController()
  const signal = AbortSignal.any([options.signal, stop.signal])
  let running = 0
  let unbegun = 0
  let stopped: string | null = null

  const progress = () => {
    const { completed, cached, failed, costUsd } = tally.counts()
    doors.onProgress({ total: found.items.length, done: completed + failed, failed, cached, running, costUsd })
  }
  const record = async ({ index, items }: Batch, { result }: SweepRun, cached: boolean): Promise<Outcome> => {
    const outcome = { index, items: items.map(({ item }) => item), result, cached }
    const findings = tally.add(outcome)
    await file?.append(outcome, findings)
    return outcome
  }
  const workFor = ({ items }: Batch): SweepWork => {
    const prompt = compose(items)
    const schema = options.schema ?? null
    return { prompt, title: titleOf(items), key: sweepKey({ typeHash: doors.typeHash, prompt, items, schema }), schema, signal }
  }
  const startOne = async (batch: Batch) => {
    unbegun -= 1
    running += 1
    progress()
    try {
      const run = await doors.start(workFor(batch)).catch((error: unknown) => {
        if (signal.aborted) return null
        throw error
      })
      // What stopping cut short has not finished: it is run again next time.
      if (run === null || (signal.aborted && !run.result.success)) return
      const reason = watch(await record(batch, run, false))
      if (reason === null || stopped !== null) return
      stopped = reason
      stop.abort(new CadreError('STOPPED', reason))
    } finally {
      running -= 1
      // The next one begins in this moment, and tells both: seen in between, one fewer would seem to run than does.
      if (unbegun === 0 || signal.aborted) progress()
    }
  }

  return {
    async skipFinished(batches) {
      const pending: Batch[] = []
      for (let at = 0; at < batches.length && !signal.aborted; at += CHECKS_AT_ONCE) {
        await nextTurn() // so that Ctrl-C is heard
        progress()
        const some = batches.slice(at, at + CHECKS_AT_ONCE)
        const earlier = await Promise.all(some.map((batch) => finishedBefore(workFor(batch).key, doors)))
        for (const [index, batch] of some.entries()) {
          const run = earlier[index]
          if (run) await record(batch, run, true)
          else pending.push(batch)
        }
      }
      return pending
    },
    start(pending) {
      unbegun = pending.length
      return pool(pending, options.parallel, signal, startOne, (error) => stop.abort(error))
    },
    summary(reduced, files = NO_FILES) {
      const counts = tally.now()
      const left = found.items.length - counts.completed - counts.failed
      const reduceFailed = reduced !== null && !reduced.success
      return {
        ...counts,
        status: statusOf({
          stopped: stopped !== null,
          interrupted: left > 0 || (options.signal.aborted && reduceFailed),
          failed: counts.failed > 0 || reduceFailed,
        }),
        reason: stopped ?? (reduceFailed ? `The agent of --reduce failed: ${reduced.error ?? reduced.status}` : null),
        agent: doors.agent,
        over: options.over,
        total: found.items.length,
        duplicates: found.duplicates,
        left,
        costUsd: counts.costUsd + (reduced?.costUsd ?? 0),
        durationMs: Math.round(performance.now() - started),
        reduced,
        files,
      }
    },
  }
}

function statusOf(seen: Readonly<Record<'stopped' | 'interrupted' | 'failed', boolean>>): SweepSummary['status'] {
  if (seen.stopped) return 'stopped'
  if (seen.interrupted) return 'interrupted'
  return seen.failed ? 'failed' : 'completed'
}
