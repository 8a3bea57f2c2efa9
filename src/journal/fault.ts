import { CadreError, messageOf } from '../core/errors.ts'

const CHECK_FOLDER = 'Check that its folder exists and is yours, or set CADRE_JOURNAL to another folder.'

/** What SQLite's primary result codes mean for a person who has to mend it. */
const FAULTS: Readonly<Record<number, { readonly what: string; readonly remedy: string }>> = {
  3: { what: 'no permission', remedy: 'Make the file and its folder yours (`chown`), or set CADRE_JOURNAL to another folder.' },
  5: { what: 'another process holds it', remedy: 'End the process that holds it, then try again.' },
  8: { what: 'it is read-only', remedy: 'Make the file and its folder writable, or set CADRE_JOURNAL to another folder.' },
  10: { what: 'reading or writing the disk failed', remedy: 'Check the disk and its free space: all that was acknowledged is there.' },
  11: { what: 'it is damaged', remedy: 'Move it away (with its -wal and -shm) and start again, or restore it from a backup.' },
  13: { what: 'the disk is full', remedy: 'Free some space, then try again: all that was acknowledged is there.' },
  14: { what: 'it cannot be opened', remedy: CHECK_FOLDER },
  26: { what: 'it is not a journal (not an SQLite database)', remedy: 'Move the file away and start again.' },
}

/** SQLite's primary result code of an error of node:sqlite; null for any other error. */
export function sqliteCode(error: unknown): number | null {
  return error instanceof Error && 'errcode' in error && typeof error.errcode === 'number' ? error.errcode & 0xff : null
}

const BUSY = 5
const LOCKED = 6

/** Whether another connection holds the lock this one needs: trying again later can help. */
export const isBusy = (error: unknown): boolean => [BUSY, LOCKED].includes(sqliteCode(error) ?? 0)

/** The JOURNAL error for whatever went wrong with a journal file: what failed, on which file, and the remedy. */
export function journalFault(file: string, doing: 'opened' | 'read' | 'written', error: unknown): CadreError {
  if (error instanceof CadreError) return error
  const known = FAULTS[sqliteCode(error) ?? 0]
  const what = known ? `${known.what} (${messageOf(error)})` : messageOf(error)
  return new CadreError('JOURNAL', `The journal ${file} cannot be ${doing}: ${what}. ${known?.remedy ?? CHECK_FOLDER}`, { cause: error })
}

/** The JOURNAL error for a file that was deleted, moved or replaced while it was open: what is written there no one would ever find. */
export const journalGone = (file: string): CadreError =>
  new CadreError('JOURNAL',
    `The journal ${file} is gone: it was deleted, moved or replaced while in use. Put it back, or start again with a new one.`)

export const journalClosed = (file: string): CadreError =>
  new CadreError('JOURNAL', `The journal ${file} is closed: nothing can be read from it or written to it any more. Open it again.`)
