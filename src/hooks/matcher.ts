import { typeKey } from '../core/agent-type.ts'
import { isKnownTool, toolsNamed } from '../core/tool-names.ts'

/** What an event is about: a tool, by its own name; or a word, such as an agent type or the source of a session. */
export type HookSubject = { readonly tool: string; readonly foreign?: boolean } | { readonly word: string }

/** Names, or names joined by `|`; anything else is a regular expression. */
const NAMES = /^[\w .:-]+(\|[\w .:-]+)*$/

/** Why a matcher can match nothing, or null. */
export function matcherFault(matcher: string): string | null {
  if (matcher === '' || matcher === '*' || NAMES.test(matcher)) return null
  try {
    return new RegExp(matcher).source === '' ? 'it is empty' : null
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
}

/**
 * Whether a matcher is about a subject. As in Claude Code: absent, empty and `*` match all, a name or `A|B` matches exactly, anything else is a
 * regular expression to be found anywhere. Tools are known by every name of the table (GRA-03), and a foreign tool by its own name only, unless
 * that is a name of the table. A subject-less event is matched by everything.
 */
export function matchesSubject(matcher: string | null, subject: HookSubject | null): boolean {
  if (matcher === null || matcher === '' || matcher === '*' || subject === null) return true
  if (NAMES.test(matcher)) return matcher.split('|').some((name) => isNamed(name.trim(), subject))
  const pattern = new RegExp(matcher)
  return spellings(subject).some((spelling) => pattern.test(spelling))
}

function isNamed(name: string, subject: HookSubject): boolean {
  if ('word' in subject) return typeKey(name) === typeKey(subject.word)
  if (subject.foreign !== true) return toolsNamed(name, [subject.tool]).includes(subject.tool)
  return (!isKnownTool(name) || name.toLowerCase().startsWith('mcp__')) && toolsNamed(name, [subject.tool]).includes(subject.tool)
}

function spellings(subject: HookSubject): readonly string[] {
  if ('word' in subject) return [subject.word]
  if (subject.foreign === true) return isKnownTool(subject.tool) && !subject.tool.toLowerCase().startsWith('mcp__') ? [] : [subject.tool]
  return [subject.tool, ...SPELLINGS.filter((name) => toolsNamed(name, []).includes(subject.tool))]
}

/** The names users' matchers are written with. */
const SPELLINGS: readonly string[] = ['Read', 'LS', 'Glob', 'Grep', 'Write', 'Edit', 'MultiEdit', 'Bash', 'WebFetch', 'TodoWrite', 'Agent', 'Task', 'SendMessage', 'TaskStop', 'TaskOutput']
