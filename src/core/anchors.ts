import { withoutNotices } from './notice.ts'
import type { ChildRow } from './restored.ts'
import { describeEnding } from './status.ts'
import type { Ending } from './status.ts'
import { wholeCharacters } from './title.ts'

const ANCHOR = {
  /** Characters of an ended agent's output. */
  firstLine: 120,
  /** Turns of its parent an ended one stays for. */
  turns: 20,
} as const

/** A line per sub-agent, asked for in a turn of its parent that began already, so that its parent remembers each whatever became of its history (DEL-11). */
export const anchorsOf = (children: readonly ChildRow[]): readonly string[] =>
  children.filter(({ end }) => end === null || end.turnsSince <= ANCHOR.turns).map((child) => withoutNotices(anchor(child)))

/** What a parent's turn ends with; null: it has no sub-agents. The heading keeps it from being taken for the user's words. */
export const anchorText = (anchors: readonly string[]): string | null => (anchors.length === 0 ? null : ['Your sub-agents (a reminder, not from the user):', ...anchors].join('\n'))

function anchor({ id, title, spawned, end }: ChildRow): string {
  if (end === null) return `- [ ] [subagent:${id}] ${title} — awaiting result (spawned ${new Date(spawned).toISOString()})`
  const { status, cause, firstLine } = end
  return `- [x] [subagent:${id}] ${title} — ${describeEnding({ status, cause } as Ending)}: ${wholeCharacters(firstLine.slice(0, ANCHOR.firstLine))}`
}
