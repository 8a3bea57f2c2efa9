import { statSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { messageOf } from '../core/errors.ts'

/** Problems SQLite lists at most. */
const MOST_PROBLEMS = 5

/** The permission bits only the owner should not share (JRN-01). */
const OTHERS = 0o077

/** What is wrong with a journal file, one line each; empty for a sound one. Changes nothing and never throws; reads the whole file. */
export function journalProblems(file: string): readonly string[] {
  try {
    const mode = statSync(file).mode & 0o777
    const shared = process.platform !== 'win32' && (mode & OTHERS) !== 0 ? [`others may read it (mode ${mode.toString(8)})`] : []
    return [...shared, ...damage(file)]
  } catch (error) {
    return [`it cannot be read: ${messageOf(error)}`]
  }
}

function damage(file: string): readonly string[] {
  const db = new DatabaseSync(file, { readOnly: true })
  try {
    const rows = db.prepare(`PRAGMA quick_check(${MOST_PROBLEMS})`).all()
    return rows.map((row) => String(row['quick_check'])).filter((line) => line !== 'ok')
  } finally {
    db.close()
  }
}
