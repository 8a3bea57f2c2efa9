import { lstat, mkdir, readdir, realpath, rm, stat, writeFile } from 'node:fs/promises'
import { isAbsolute, join, relative, resolve, sep } from 'node:path'
import { CadreError } from '../core/errors.ts'
import { unfinishedName, writeAtomically } from './atomic-file.ts'
import { cannotWrite } from './cannot-write.ts'
import { LOCK_NAME, lockFolder, refuseOwned, TAKEOVER_NAME } from './folder-lock.ts'
import { isForeign } from './foreign-file.ts'
import { renderMarkdown } from './markdown-report.ts'
import type { SweepInputs } from './contract.ts'
import { RESULTS_NAME, UNPUBLISHED_NAME, type ResultsFile } from './results-file.ts'
import { sarifOf } from './sarif.ts'
import type { SweepSummary } from './summary.ts'

const REPORT_NAME = 'report.md'
const SARIF_NAME = 'report.sarif'
/** Where nothing of worth ever stands: such a file is overwritten or removed. */
const PASSING_NAMES: readonly string[] = [UNPUBLISHED_NAME, unfinishedName(REPORT_NAME), unfinishedName(SARIF_NAME), LOCK_NAME, TAKEOVER_NAME]
const OWN_NAMES: readonly string[] = [RESULTS_NAME, REPORT_NAME, SARIF_NAME, ...PASSING_NAMES]

/** The folder of `--out`. It may lie inside the root: what the sweep writes there is no item of its next run. */
export type OutputFolder = {
  readonly path: string
  /** Whether a path, relative to the root, is one of the files a sweep writes here. */
  isOwn(path: string): boolean
  /**
   * Makes the folder if it is missing, and this sweep its only owner until what is answered is called. A folder that was missing or empty
   * gets a `.gitignore` that ignores all in it, so that no later sweep takes results for items. Throws USAGE when another sweep owns it, or
   * the disk takes no file.
   */
  take(): Promise<() => void>
  /** Writes `report.md`, and `report.sarif` if there are findings (else an old one is removed). Answers where everything is. */
  write(summary: SweepSummary, results: ResultsFile): Promise<SweepSummary['files']>
}

/**
 * Resolves `--out`; makes nothing yet. Throws USAGE when it is a file, another sweep owns it, or something that no sweep wrote stands where
 * the sweep would write.
 */
export async function outputFolder(out: string, { root, cwd }: Pick<SweepInputs, 'root' | 'cwd'>): Promise<OutputFolder> {
  const path = resolve(cwd, out)
  if ((await stat(path).catch(() => null))?.isDirectory() === false) {
    throw new CadreError('USAGE', `--out ${out} is a file. Name a folder; it is made if it is missing.`)
  }
  await refuseForeign(path, out)
  refuseOwned(path, out)
  const inRoot = relative(root, await realpath(path).catch(() => path)).split(sep).join('/')
  const own = new Set(OWN_NAMES.map((name) => (inRoot ? `${inRoot}/${name}` : name)))
  return {
    path,
    isOwn: (item) => own.has(item.replace(/^\.\//, '')),
    async take() {
      await mkdir(path, { recursive: true }).catch((error: unknown) => {
        throw cannotWrite(path, error)
      })
      const release = await lockFolder(path, out)
      try {
        await ignoreIfNew(path, [root, cwd])
      } catch (error) {
        release()
        throw error
      }
      return release
    },
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

const KINDS = { [RESULTS_NAME]: 'results', [REPORT_NAME]: 'report', [SARIF_NAME]: 'sarif' } as const

async function refuseForeign(folder: string, out: string): Promise<void> {
  const kinds = Object.entries(KINDS)
  const foreign = await Promise.all([
    ...kinds.map(async ([name, kind]) => ((await isForeign(join(folder, name), kind)) ? [name] : [])),
    ...PASSING_NAMES.map(async (name) => ((await isOtherThanFile(join(folder, name))) ? [name] : [])),
  ])
  const names = foreign.flat()
  if (names.length === 0) return
  throw new CadreError(
    'USAGE',
    `--out ${out} would overwrite ${names.join(' and ')}, which no sweep wrote. Name another folder (it is made if it is missing), or move ` +
      `${names.length > 1 ? 'the files' : 'the file'} away.`,
  )
}

/** Leaves alone what has anything in it, and a folder in which the user works: git would lose sight of that work. */
async function ignoreIfNew(folder: string, places: readonly string[]): Promise<void> {
  const names = await readdir(folder)
  if (names.some((name) => !PASSING_NAMES.includes(name))) return
  const real = await realpath(folder)
  const within = await Promise.all(places.map(async (place) => relative(real, await realpath(place).catch(() => place))))
  if (within.some((path) => path.split(sep)[0] !== '..' && !isAbsolute(path))) return
  const path = join(folder, '.gitignore')
  await writeFile(path, '*\n', { flag: 'wx' }).catch((error: unknown) => {
    throw cannotWrite(path, error)
  })
}

/** A folder, FIFO or device cannot be written over, and a link would be written through. */
async function isOtherThanFile(path: string): Promise<boolean> {
  const stats = await lstat(path).catch(() => null)
  return stats !== null && !stats.isFile()
}

async function* whole(text: string): AsyncIterable<string> {
  yield text
}
