import { closeSync, openSync, writeSync } from 'node:fs'
import { CadreError, messageOf } from '../core/errors.ts'
import type { CadreEvent } from '../core/events.ts'
import type { Journal } from './journal.ts'

/** What `CADRE_PROFILE=<file>` asks for: the trace of every session of this process, for a browser's tracing view. */
export type Profile = {
  /** Notes the session an event belongs to. */
  saw(event: CadreEvent): void
  /** Writes the file; the journal must still be open. */
  write(journal: Journal): void
}

/** Throws CadreError SETTINGS at once for a file that cannot be written; what is in it stays until there is something new. */
export function openProfile(path: string): Profile {
  const sessions = new Set<string>()
  try {
    closeSync(openSync(path, 'a'))
  } catch (cause) {
    throw new CadreError('SETTINGS', `CADRE_PROFILE names ${path}, which cannot be written: ${messageOf(cause)}`, { cause })
  }
  return {
    saw: ({ session }) => void sessions.add(session),
    write(journal) {
      const file = openSync(path, 'w')
      try {
        for (const piece of journal.trace([...sessions])) writeSync(file, piece)
      } finally {
        closeSync(file)
      }
    },
  }
}
