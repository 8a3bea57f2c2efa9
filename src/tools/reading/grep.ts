import type { ReadContext, ReadFunction } from '../../core/tool.ts'
import { codeOf, confine } from './confine.ts'
import type { Place } from './confine.ts'
import { kindOf } from './folder.ts'
import { grepData, grepText } from './grep-answer.ts'
import { GREP_LIMITS, GrepFindings } from './grep-findings.ts'
import type { GrepInput } from './inputs.ts'
import { LineSearch } from './line-search.ts'
import { ReadLog } from './reads.ts'
import { closeInterrupted } from './regular-file.ts'
import { forEachPiece } from './text-pieces.ts'
import type { Piece } from './text-pieces.ts'
import { finishesWithin } from './watchdog.ts'
import type { LeftOut } from './walk.ts'

/** Most source files fit; larger ones are read on their own. */
const SCRATCH_BYTES = 131_072

/**
 * TOO-05: the lines of text files that match a JavaScript regular expression. A file named outright is searched whether ignored or not; in
 * folders links are not followed. A search that runs out of time answers with what it found so far and says so.
 */
export const grep: ReadFunction<GrepInput> = async (input, context) => {
  const { pattern, path = '.', ignore_case: ignoreCase = false } = input
  const search = new LineSearch(pattern, ignoreCase)
  const place = confine(context, path)
  const log = new ReadLog()
  const findings = new GrepFindings(input)
  const leftOut = kindOf(place, path) === 'file'
    ? grepFile(search, place, findings, log)
    : await grepFolder(search, place, input, findings, log, context)
  const text = context.form === 'data'
    ? grepData(findings, leftOut)
    : grepText(findings, (await import('./left-out.ts')).describeLeftOut(leftOut))
  const reads = findings.stopped ? undefined : log.result()
  return reads === undefined ? { text } : { text, reads }
}

function grepFile(search: LineSearch, place: Place, findings: GrepFindings, log: ReadLog): LeftOut {
  const seconds = timer()
  searchFile(search, place, findings, log, (piece, run) => {
    if (search.isQuickOn(piece.text)) run()
    else findings.stopped = !finishesWithin(seconds.leftMs(), run)
  })
  return { ignored: 0, unreadable: 0 }
}

async function grepFolder(
  search: LineSearch, place: Place, { glob, ignored = false }: GrepInput, findings: GrepFindings, log: ReadLog, context: ReadContext,
): Promise<LeftOut> {
  const { Walker } = await import('./walk.ts')
  const named = glob === undefined ? null : (await import('./glob-pattern.ts')).globPattern(glob, { anyDepth: true })
  const walker = new Walker(log, () => context.stopped())
  const seconds = timer()
  const scratch = Buffer.allocUnsafeSlow(SCRATCH_BYTES)
  const finished = finishesWithin(seconds.leftMs(), () => {
    walker.walk(place, ignored, (entry) => {
      if (entry.kind !== 'file' || named?.matches(entry.real.slice(place.real.length + 1)) === false) return true
      if (context.stopped()) throw new Error('Stopped.')
      if (!searchFileIfReadable(search, entry, findings, log, scratch)) walker.leftOut.unreadable += 1
      findings.stopped = seconds.leftMs() <= 1
      return !findings.more && !findings.stopped
    })
  })
  if (!finished) {
    findings.stopped = true
    closeInterrupted()
  }
  return walker.leftOut
}

/** As `searchFile`; false for a file that cannot be read. */
function searchFileIfReadable(search: LineSearch, place: Place, findings: GrepFindings, log: ReadLog, scratch: Buffer): boolean {
  try {
    searchFile(search, place, findings, log, (_piece, run) => run(), scratch)
    return true
  } catch (error) {
    const code = codeOf(error) ?? (error instanceof Error ? codeOf(error.cause) : undefined)
    if (code === undefined) throw error
    return code === 'ENOENT' // gone since it was listed
  }
}

/** Searches one file piece by piece; `around` decides how the search of a piece is run. */
function searchFile(
  search: LineSearch, place: Place, findings: GrepFindings, log: ReadLog,
  around: (piece: Piece, run: () => void) => void, scratch: Buffer | null = null,
): void {
  const isText = forEachPiece(place, log, (piece) => {
    let goOn = true
    around(piece, () => search.run(piece.text, (hit) => (goOn = findings.take(place.path, piece, hit))))
    return goOn && !findings.stopped
  }, scratch)
  if (isText) findings.filesSearched += 1
  else findings.binaries += 1
}

/** Ten seconds from now. */
function timer(): { leftMs(): number } {
  const end = performance.now() + GREP_LIMITS.seconds * 1_000
  return { leftMs: () => Math.max(1, Math.ceil(end - performance.now())) }
}
