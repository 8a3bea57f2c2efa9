import { CadreError } from '../core/errors.ts'
import { toBatches } from './batches.ts'
import type { SweepAgents, SweepInputs, SweepOptions } from './contract.ts'
import { readItems } from './items.ts'
import { outputFolder, type OutputFolder } from './output-folder.ts'
import { composer } from './prompts.ts'
import { reducePrompt } from './reduce.ts'
import { createResultsFile, type ResultsFile } from './results-file.ts'
import { createRun, type Run } from './run.ts'
import type { SweepSummary } from './summary.ts'

export type { SweepAgents, SweepDoors, SweepInputs, SweepOptions, SweepProgress, SweepRun, SweepWork } from './contract.ts'
export { exitCodeOf, type SweepSummary } from './summary.ts'

/** A sweep whose options, items and prompts are known to be good. */
export type PreparedSweep = {
  /**
   * Runs an agent over every item (CMD-05, CMD-12). What finished in an earlier sweep is skipped while the files it read are unchanged; one
   * agent's failure stops no other. Rejects with whatever `agents.start` or the disk threw when the sweep cannot go on. All else,
   * interruption included, is in the summary.
   */
  run(agents: SweepAgents): Promise<SweepSummary>
}

/**
 * Reads what there is to do, once, and runs nothing. Rejects with USAGE for an option that cannot be used, when there is no item, a row is bad,
 * the prompt cannot be filled for one of them, or `out` holds files of the user's or belongs to a running sweep: all that a user can get wrong.
 */
export async function prepareSweep(options: SweepOptions, inputs: SweepInputs): Promise<PreparedSweep> {
  const started = performance.now()
  checkOptions(options)
  const folder = options.out ? await outputFolder(options.out, inputs) : null
  const found = await readItems(options.over, inputs, folder?.isOwn ?? (() => false), options.signal)
  const compose = composer(options.prompt, found.columns)
  const batches = toBatches(found.items, options.batch)
  for (const { items } of batches) compose(items) // a row without a column the prompt uses
  return {
    async run(doors) {
      if (options.reduce && !doors.reduce) throw new CadreError('INVARIANT', 'A sweep with a reduce prompt was started without a way to run its agent.')
      const release = await folder?.take()
      let file: ResultsFile | null = null
      try {
        if (folder || options.reduce) file = await createResultsFile(folder?.path ?? null, options.batch)
        const run = createRun({ options, doors, found, compose, file, started })
        const pending = await run.skipFinished(batches)
        if (options.signal.aborted) return run.summary(null)
        await file?.publish()
        await run.start(pending)
        return await conclude(run, { options, doors, folder, file })
      } finally {
        try {
          await file?.close()
        } finally {
          release?.()
        }
      }
    },
  }
}

type Ending = {
  readonly options: SweepOptions
  readonly doors: SweepAgents
  readonly folder: OutputFolder | null
  readonly file: ResultsFile | null
}

/** Writes the reports, and asks the last agent if there is one: after the first reports, so that nothing depends on it. */
async function conclude(run: Run, { options, doors, folder, file }: Ending): Promise<SweepSummary> {
  const write = async (summary: SweepSummary) => (folder && file ? { ...summary, files: await folder.write(summary, file) } : summary)
  const summary = await write(run.summary(null))
  if (!options.reduce || !doors.reduce || !file || summary.left > 0) return summary
  if (summary.completed === 0) return { ...summary, reason: 'No item completed, so the agent of --reduce was not started.' }
  const prompt = await reducePrompt(options.reduce, file.lines(), summary)
  const reduced = await doors.reduce(prompt, options.signal).catch((error: unknown) => {
    if (options.signal.aborted) return null
    throw error
  })
  if (reduced === null) return { ...summary, status: 'interrupted', reason: 'The agent of --reduce was stopped before it had answered.' }
  return write(run.summary(reduced))
}

/** A library's caller may be JavaScript. The command has checked its flags before, and says so in its own words. */
function checkOptions({ over, prompt, batch, parallel }: SweepOptions): void {
  const texts: Readonly<Record<string, unknown>> = { over, prompt: prompt ?? '' }
  for (const [name, value] of Object.entries(texts)) {
    if (typeof value !== 'string') throw new CadreError('USAGE', `${name} is ${value === undefined ? 'missing' : `of type ${typeof value}`}; it must be a text.`)
  }
  for (const [name, value] of Object.entries({ batch, parallel })) {
    if (Number.isSafeInteger(value) && value >= 1) continue
    throw new CadreError('USAGE', `${name} is ${value}; it must be a whole number, at least 1.`)
  }
}
