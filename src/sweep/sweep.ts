import { setImmediate as nextTurn } from 'node:timers/promises'
import { CadreError } from '../core/errors.ts'
import type { SweepDoors, SweepItem, SweepOptions, SweepProgress, SweepRun, SweepWork } from './contract.ts'
import { readItems, type Found } from './items.ts'
import { sweepKey } from './key.ts'
import { outputFolder, type OutputFolder } from './output-folder.ts'
import type { Outcome } from './outcome.ts'
import { pool } from './pool.ts'
import { composer, type Compose } from './prompts.ts'
import { reducePrompt } from './reduce.ts'
import { createResultsFile, type ResultsFile } from './results-file.ts'
import type { SweepSummary } from './summary.ts'
import { createSystemicWatch } from './systemic.ts'
import { createTally } from './tally.ts'

export type { SweepDoors, SweepItem, SweepOptions, SweepProgress, SweepRun, SweepWork } from './contract.ts'
export { exitCodeOf, type SweepSummary } from './summary.ts'

const LIMITS = { checksAtOnce: 16, checksPerTurn: 256, titleChars: 60 } as const

/** The items of one agent. `index` counts in the order of the items. */
type Batch = { readonly index: number; readonly items: readonly SweepItem[] }

/**
 * Runs an agent over every item (CMD-05, CMD-12). What finished in an earlier sweep is skipped while the files it read are unchanged; one agent's
 * failure stops no other. Rejects with USAGE before anything is run when there is no item, a row is bad or the prompt cannot be filled; with
 * whatever `doors.start` or the disk threw when the sweep cannot go on. All else, interruption included, is in the summary.
 */
export async function sweep(options: SweepOptions, doors: SweepDoors): Promise<SweepSummary> {
  const started = performance.now()
  checkOptions(options, doors)
  const folder = options.out ? await outputFolder(options.out, doors.root) : null
  const found = await readItems(options.over, doors, folder?.isOwn ?? (() => false), options.signal)
  const compose = composer(options.prompt, found.columns)
  const batches = toBatches(found.items, options.batch)
  for (const { items } of batches) compose(items) // a row without a column the prompt uses: known before anything is run

  const needsFile = folder !== null || options.reduce
  const file = needsFile ? await createResultsFile(folder?.path ?? null, options.batch) : null
  try {
    const run = createRun({ options, doors, found, compose, file, started })
    const pending = await run.skipFinished(batches)
    if (options.signal.aborted) return run.summary(null)
    await file?.publish()
    await run.start(pending)
    return await conclude(run, { options, doors, folder, file, runs: batches.length })
  } finally {
    await file?.close()
  }
}

type Run = ReturnType<typeof createRun>

type RunParts = {
  readonly options: SweepOptions
  readonly doors: SweepDoors
  readonly found: Found
  readonly compose: Compose
  readonly file: ResultsFile | null
  /** `performance.now()` of the start. */
  readonly started: number
}

function createRun({ options, doors, found, compose, file, started }: RunParts) {
  const tally = createTally(doors.agent)
  const watch = createSystemicWatch()
  const stop = new AbortController()
  const signal = AbortSignal.any([options.signal, stop.signal])
  let running = 0
  let stopped: string | null = null

  const progress = () => {
    const { completed, cached, failed, costUsd } = tally.counts()
    doors.onProgress({ total: found.items.length, done: completed + failed, failed, cached, running, costUsd } satisfies SweepProgress)
  }
  const record = async (outcome: Outcome) => {
    const findings = tally.add(outcome)
    await file?.append(outcome, findings)
  }
  const workFor = ({ items }: Batch): SweepWork => {
    const prompt = compose(items)
    const schema = options.schema ?? null
    return { prompt, title: titleOf(items), key: sweepKey({ typeHash: doors.typeHash, prompt, items, schema }), schema, signal }
  }
  const outcomeOf = ({ index, items }: Batch, { result }: SweepRun, cached: boolean): Outcome => ({ index, items: items.map(({ item }) => item), result, cached })

  const startOne = async (batch: Batch) => {
    running += 1
    progress()
    try {
      const run = await doors.start(workFor(batch))
      // What stopping cut short has not finished: it is run again next time.
      if (signal.aborted && !run.result.success) return
      const outcome = outcomeOf(batch, run, false)
      await record(outcome)
      stopped ??= watch(outcome)
      if (stopped !== null) stop.abort(new CadreError('STOPPED', stopped))
    } catch (error) {
      if (!signal.aborted) throw error
    } finally {
      running -= 1
      progress()
    }
  }

  return {
    /** Records what need not be run again; answers the rest, in order. */
    async skipFinished(batches: readonly Batch[]): Promise<readonly Batch[]> {
      progress()
      const pending: Batch[] = []
      await pool(batches, LIMITS.checksAtOnce, signal, async (batch) => {
        if (batch.index % LIMITS.checksPerTurn === 0) await nextTurn() // so that Ctrl-C is heard
        const earlier = doors.finished(workFor(batch).key)
        if (!earlier || !(await stillHolds(earlier, doors))) return void pending.push(batch)
        await record(outcomeOf(batch, earlier, true))
        progress()
      })
      return pending.toSorted((a, b) => a.index - b.index)
    },
    start: (pending: readonly Batch[]) => pool(pending, options.parallel, signal, startOne, (error) => stop.abort(error)),
    summary(reduced: SweepSummary['reduced'], files: SweepSummary['files'] = { results: null, report: null, sarif: null }): SweepSummary {
      const counts = tally.now()
      const left = found.items.length - counts.completed - counts.failed
      const reduceFailed = reduced !== null && !reduced.success
      const failed = counts.failed > 0 || reduceFailed
      return {
        status: stopped !== null ? 'stopped' : options.signal.aborted && (left > 0 || reduceFailed) ? 'interrupted' : failed ? 'failed' : 'completed',
        reason: stopped ?? (reduceFailed ? `The agent of --reduce failed: ${reduced.error ?? reduced.status}` : null),
        agent: doors.agent,
        over: options.over,
        total: found.items.length,
        duplicates: found.duplicates,
        left,
        durationMs: Math.round(performance.now() - started),
        reduced,
        files,
        ...counts,
        costUsd: counts.costUsd + (reduced?.costUsd ?? 0),
      }
    },
  }
}

type Ending = { readonly options: SweepOptions; readonly doors: SweepDoors; readonly folder: OutputFolder | null; readonly file: ResultsFile | null; readonly runs: number }

/** Writes the reports, and asks the last agent if there is one: after the first reports, so that nothing depends on it. */
async function conclude(run: Run, { options, doors, folder, file, runs }: Ending): Promise<SweepSummary> {
  const write = async (summary: SweepSummary) => (folder && file ? { ...summary, files: await folder.write(summary, file) } : summary)
  const summary = await write(run.summary(null))
  if (!options.reduce || !doors.reduce || !file || summary.left > 0) return summary
  if (summary.completed === 0) return { ...summary, reason: 'No item completed, so the agent of --reduce was not started.' }
  const reduced = await doors.reduce(await reducePrompt(options.reduce, file.lines(), { runs, summary }), options.signal)
  return write(run.summary(reduced))
}

/** Whether every file an earlier run read is as it was. */
async function stillHolds({ result, reads }: SweepRun, doors: SweepDoors): Promise<boolean> {
  if (!result.success || reads === null) return false
  const same = await Promise.all(reads.map(async ({ path, hash }) => (await doors.hashFile(path)) === hash))
  return same.every(Boolean)
}

function checkOptions({ batch, parallel, reduce }: SweepOptions, doors: SweepDoors): void {
  for (const [name, value] of Object.entries({ batch, parallel })) {
    if (!Number.isSafeInteger(value) || value < 1) throw new CadreError('USAGE', `--${name} is ${value}; it must be a whole number, at least 1.`)
  }
  if (reduce && !doors.reduce) throw new CadreError('INVARIANT', 'A sweep with a reduce prompt was started without a way to run its agent.')
}

const toBatches = (items: readonly SweepItem[], size: number): readonly Batch[] =>
  Array.from({ length: Math.ceil(items.length / size) }, (_, index) => ({ index, items: items.slice(index * size, (index + 1) * size) }))

function titleOf(items: readonly SweepItem[]): string {
  const more = items.length > 1 ? ` and ${items.length - 1} more` : ''
  const room = LIMITS.titleChars - more.length
  const first = items[0]?.item.replaceAll(/\s+/g, ' ') ?? ''
  return (first.length > room ? `…${first.slice(1 - room)}` : first) + more
}
