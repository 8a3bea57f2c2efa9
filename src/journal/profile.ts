import { closeSync, openSync, renameSync, rmSync, statSync, writeSync } from 'node:fs'
import { CadreError, messageOf } from '../core/errors.ts'
import type { CadreEvent } from '../core/events.ts'
import type { Journal } from './journal.ts'

/** What `CADRE_PROFILE=<file>` asks for: the trace of every session of this process, for a browser's tracing view. */
export type Profile = {
  /** Notes the session an event belongs to. */
  saw(event: CadreEvent): void
  /** Writes the file, whole or not at all; without a session what is there stays. The journal must still be open. Throws SETTINGS. */
  write(journal: Journal): void
}

/** Throws CadreError SETTINGS at once for a file that cannot be written. */
export function openProfile(path: string): Profile {
  const sessions = new Set<string>()
  const unwritable = (cause: unknown): CadreError =>
    new CadreError('SETTINGS', `CADRE_PROFILE names ${path}, which cannot be written: ${messageOf(cause)}`, { cause })
  /** Beside the file, so that it can take its place in one step. */
  const draft = `${path}.${process.pid}.tmp`
  const attempt = (work: () => void): void => {
    try {
      work()
    } catch (cause) {
      rmSync(draft, { force: true })
      throw unwritable(cause)
    }
  }
  const there = statSync(path, { throwIfNoEntry: false })
  if (there && !there.isFile()) throw unwritable('it is no regular file')
  attempt(() => {
    closeSync(openSync(draft, 'w'))
    rmSync(draft)
  })
  return {
    saw: ({ session }) => void sessions.add(session),
    write(journal) {
      if (sessions.size === 0) return
      attempt(() => {
        const file = openSync(draft, 'w')
        try {
          for (const piece of journal.trace([...sessions])) writeSync(file, piece)
        } finally {
          closeSync(file)
        }
        renameSync(draft, path)
      })
    },
  }
}
