import { lstatSync, statSync } from 'node:fs'
import { performance } from 'node:perf_hooks'
import type { Diagnostic } from '../core/diagnostic.ts'
import { readTextFile } from './text-file.ts'

/** A file is looked at this often, in ms, however many agents start: what is written counts for those that start 1 s later. */
const LOOK_EVERY_MS = 500

/** `text`: null when it cannot be used. */
export type FoundText = { readonly there: boolean; readonly text: string | null }

/** The files that prompts are made of, each read once per version. */
export type TextFiles = {
  /** A file as it was at most 500 ms ago. Inside `within` (a real path) no link may lead out. A file that cannot be used is told once per version. */
  read(path: string, within: string | null): FoundText
}

type Known = { readonly found: FoundText; readonly stamp: string; looked: number }

const ABSENT: FoundText = { there: false, text: null }

export function createTextFiles(options: {
  onDiagnostic(diagnostic: Diagnostic): void
  /** ms; replaces the clock in tests. */
  readonly now?: () => number
}): TextFiles {
  const now = options.now ?? (() => performance.now())
  const known = new Map<string, Known>()

  function look(path: string, within: string | null): FoundText {
    const text = readTextFile(path, within)
    if (text === null) return ABSENT
    if (typeof text === 'string') return { there: true, text }
    options.onDiagnostic({ path, line: 1, severity: 'warning', message: `it ${text.message}, so it is in no prompt`, remedy: text.remedy })
    return { there: true, text: null }
  }

  return {
    read(path, within) {
      const before = known.get(path)
      const time = now()
      if (before && time - before.looked < LOOK_EVERY_MS) return before.found
      const stamp = stampOf(path)
      if (before?.stamp === stamp) {
        before.looked = time
        return before.found
      }
      const found = stamp === NOTHING ? ABSENT : look(path, within)
      known.set(path, { found, stamp, looked: time })
      return found
    },
  }
}

const NOTHING = '-'

/** Differs between any two versions of a file, of what a link leads to, and of who may read it. */
function stampOf(path: string): string {
  try {
    const stats = statSync(path, { throwIfNoEntry: false }) ?? lstatSync(path, { throwIfNoEntry: false })
    return stats ? `${stats.ino}:${stats.size}:${stats.mtimeMs}:${stats.ctimeMs}` : NOTHING
  } catch (error) {
    return String(error) // a folder on the way that may not be entered, a loop of links: reading it says so
  }
}
