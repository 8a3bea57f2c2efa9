import { formatPatch, structuredPatch } from 'diff'
import { display } from '../reading/confine.ts'
import { decode } from '../reading/decode.ts'
import { isBinary } from '../reading/regular-file.ts'
import type { SeenFiles } from '../define-tool.ts'
import { clip } from './clip.ts'
import type { ExistingFile } from './existing-file.ts'

const DIFF_CHARS = 4_000
/** Lines taken out and put in, beyond which the comparison is given up: it takes time by the square of them. */
const DIFF_EDITS = 2_000
const CONTEXT_LINES = 3

/**
 * TOO-07: throws unless the file is as this agent last read or wrote it. The message shows what changed, or where that cannot be told, how the file
 * begins now.
 */
export function refuseStale(path: string, current: ExistingFile, files: SeenFiles): void {
  const seen = files.hashOf(path)
  if (seen === null) throw new Error(`Read ${display(path)} before you change it.`)
  if (seen !== current.hash) throw new Error(`${display(path)} changed since you read it:\n${whatChanged(files.seenText(path), current.bytes)}`)
}

/** The refusal of a write that lost to one in between. */
export const changedMeanwhile = (path: string, before: string, now: Buffer | null): Error =>
  new Error(`${display(path)} changed since you read it:\n${now === null ? '[it is gone]' : whatChanged(before, now)}`)

function whatChanged(before: string | null, now: Buffer): string {
  if (isBinary(now)) return `[it is binary now, ${now.length} bytes]`
  const text = decode(now)
  const patch = before === null ? undefined : structuredPatch('', '', before, text, '', '', { context: CONTEXT_LINES, maxEditLength: DIFF_EDITS })
  if (patch && patch.hunks.length > 0) return clip(withoutHead(formatPatch(patch)), DIFF_CHARS)
  return `[${before === null ? 'what you read is not known any more' : 'the two differ too much to compare'}; it begins now:]\n${clip(text, DIFF_CHARS)}`
}

/** The lines that name two files say nothing here. */
const withoutHead = (patch: string): string => patch.slice(Math.max(0, patch.indexOf('@@'))).trimEnd()
