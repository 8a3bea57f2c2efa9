import { anchorsOf } from './core/anchors.ts'
import type { Journal } from './journal/journal.ts'

/** The first line of the file: one without it is somebody else's. */
export const TODO_MARK = '<!-- Written by Cadre: what became of the background sub-agents started here. Changing it changes nothing. -->'

export type TodoJournal = Pick<Journal, 'children' | 'events' | 'hasEnded' | 'recentSessions' | 'undelivered'>

/** A session as the file shows it. `started` in ms since 1970. */
type Section = { readonly id: string; readonly started: number; readonly text: string }

/** The ids of sessions a text of this kind has a heading for. */
export const sessionsNamedIn = (text: string): readonly string[] => [...text.matchAll(/^## .*\((ss-[0-9a-z]+)\)$/gm)].flatMap(([, id]) => id ?? [])

/**
 * DEL-12: of these sessions, those of this root that are open and delegated in the background, or ended with results nobody read; a heading
 * each, the oldest first. `sessions`: which they are. No text when there are none.
 */
export function todoText(journal: TodoJournal, root: string, sessions: Iterable<string>): { readonly text: string; readonly sessions: readonly string[] } {
  const sections = [...new Set(sessions)].flatMap((id) => sectionOf(journal, root, id) ?? []).toSorted((a, b) => a.started - b.started)
  const text = sections.length === 0 ? '' : `${[TODO_MARK, ...sections.map((section) => section.text)].join('\n\n')}\n`
  return { text, sessions: sections.map(({ id }) => id) }
}

function sectionOf(journal: TodoJournal, root: string, id: string): Section | null {
  const [first] = journal.events({ session: id, types: ['session.started'], limit: 1 })
  if (first?.type !== 'session.started' || first.data.kind !== 'run' || first.data.root !== root) return null
  if (journal.hasEnded(id) && journal.undelivered(first.agent).length === 0) return null
  const { lines, background } = anchorsBelow(journal, first.agent)
  if (!background || lines.length === 0) return null
  return { id, started: first.time, text: [`## ${first.data.title} (${id})`, '', ...lines].join('\n') }
}

/** What a parent's turns end with, and below each agent that is still there the same of that one. */
function anchorsBelow(journal: TodoJournal, parent: string): { readonly lines: readonly string[]; readonly background: boolean } {
  const lines: string[] = []
  let background = false
  for (const child of journal.children(parent)) {
    background ||= child.background
    lines.push(...anchorsOf([child]))
    if (child.end !== null) continue
    const below = anchorsBelow(journal, child.id)
    background ||= below.background
    lines.push(...below.lines.map((line) => `  ${line}`))
  }
  return { lines, background }
}
