import { realpath, rm, stat } from 'node:fs/promises'
import { join, relative, resolve, sep } from 'node:path'
import { CadreError } from '../core/errors.ts'
import { writeAtomically } from './atomic-file.ts'
import { renderMarkdown } from './markdown-report.ts'
import { RESULTS_NAME, UNPUBLISHED_NAME, type ResultsFile } from './results-file.ts'
import { sarifOf } from './sarif.ts'
import type { SweepSummary } from './summary.ts'

const REPORT_NAME = 'report.md'
const SARIF_NAME = 'report.sarif'
const OWN_NAMES: readonly string[] = [RESULTS_NAME, UNPUBLISHED_NAME, REPORT_NAME, SARIF_NAME]

/** The folder of `--out`. It may lie inside the root: what the sweep writes there is no item of its next run. */
export type OutputFolder = {
  readonly path: string
  /** Whether a path, relative to the root, is one of the files a sweep writes here. */
  isOwn(path: string): boolean
  /** Writes `report.md`, and `report.sarif` if there are findings (else an old one is removed). Answers where everything is. */
  write(summary: SweepSummary, results: ResultsFile): Promise<SweepSummary['files']>
}

/** Resolves `--out`; makes nothing yet. Throws USAGE when it is a file. */
export async function outputFolder(out: string, root: string): Promise<OutputFolder> {
  const path = resolve(out)
  if ((await stat(path).catch(() => null))?.isDirectory() === false) {
    throw new CadreError('USAGE', `--out ${out} is a file. Name a folder; it is made if it is missing.`)
  }
  const inRoot = relative(root, await realpath(path).catch(() => path)).split(sep).join('/')
  const own = new Set(OWN_NAMES.map((name) => (inRoot ? `${inRoot}/${name}` : name)))
  return {
    path,
    isOwn: (item) => own.has(item.replace(/^\.\//, '')),
    async write(summary, results) {
      const hasFindings = summary.findings.total > 0
      const files = {
        results: join(path, RESULTS_NAME),
        report: join(path, REPORT_NAME),
        sarif: hasFindings ? join(path, SARIF_NAME) : null,
      }
      await writeAtomically(files.report, whole(renderMarkdown(summary)))
      if (files.sarif) await writeAtomically(files.sarif, sarifOf(results.lines('with findings'), summary.agent))
      else await rm(join(path, SARIF_NAME), { force: true })
      return files
    },
  }
}

async function* whole(text: string): AsyncIterable<string> {
  yield text
}
