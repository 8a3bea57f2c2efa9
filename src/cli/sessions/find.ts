import { CadreError } from '../../core/errors.ts'
import type { Journal, SessionRow } from '../../journal/journal.ts'

/** The session with this id, or the only one whose id begins so. Throws NOT_FOUND, USAGE for a beginning that several have. */
export function findSession(journal: Journal, written: string): SessionRow {
  const id = journal.findSession(written)
  const sessions = journal.sessions({ all: true })
  const found = sessions.find((session) => session.id === id)
  if (found) return found
  const alike = written === '' ? [] : sessions.filter((session) => session.id.startsWith(written)).map((session) => session.id)
  if (alike.length > 1) throw new CadreError('USAGE', `Several sessions begin with "${written}": ${alike.join(', ')}.`)
  throw new CadreError('NOT_FOUND', `No session "${written}" in this root. See cadre sessions list --all.`)
}
