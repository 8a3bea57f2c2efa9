import { forEachChild, parse } from 'unbash'
import type { Command, ParsedScript, Redirection, SyntaxNode, Word, WordPart } from 'unbash'
import { ANY } from './wildcards.ts'

/** A command longer than this is not read: no rule allows it, every rule that forbids anything matches. */
const LONGEST_COMMAND = { chars: 20_000 }

/** One word of a command. `value` as the program gets it, with `ANY` for what only the shell will know; `text` as it was written. */
export type ShellWord = { readonly value: string; readonly text: string }

/** One simple command: what is run with which words. No words: it only sets variables or redirects. */
export type SimpleCommand = { readonly words: readonly ShellWord[]; readonly assignments: readonly string[]; readonly fed: boolean }

/** What a shell text would do, as far as reading it can tell. */
export type ShellReading = {
  /** Every simple command in it, substitutions and the bodies of functions and loops included. */
  readonly commands: readonly SimpleCommand[]
  /** Why the commands are not all it does, or null when they are: an expansion, a file it writes, a part that cannot be parsed. */
  readonly unclear: string | null
  /** Whether a part of it could not be read at all, and so could be any command. */
  readonly unreadable: boolean
}

const NOTHING_SEEN: ShellReading = { commands: [], unclear: 'it cannot be read', unreadable: true }

/** Syntax whose simple commands are all there is to it. Functions, `case`, `for`, `[[ ]]` and arithmetic are read, but never taken for clear. */
const CLEAR: ReadonlySet<SyntaxNode['type']> = new Set([
  'Script', 'Statement', 'CompoundList', 'AndOr', 'Pipeline', 'Negation', 'Time', 'Command', 'Subshell', 'BraceGroup', 'Redirected', 'If', 'Elif', 'While',
  'Word', 'Literal', 'SingleQuoted', 'DoubleQuoted', 'Glob', 'Redirect', 'FileDescriptor', 'HereString', 'HereDoc', 'HereDocDelimiter', 'HereDocBody', 'Assignment',
])

/** Reads a shell text without running it. Never throws. */
export function readShell(text: string): ShellReading {
  if (text.length > LONGEST_COMMAND.chars || text.includes('\0') || text.includes(ANY)) return NOTHING_SEEN
  const commands: SimpleCommand[] = []
  const reasons: string[] = []
  let unreadable = false

  const visit = (node: SyntaxNode, fed: boolean): void => {
    if (node.type === 'Script') unreadable ||= hasErrors(node)
    if (!CLEAR.has(node.type)) reasons.push(`it uses ${wordsOf(node.type)}`)
    if (node.type === 'Redirect' || node.type === 'HereString' || node.type === 'HereDoc') reasons.push(...effectsOf(node))
    if (node.type === 'Command') {
      const simple = simpleCommand(node, fed)
      commands.push(simple)
      if (simple.words.length === 0 && simple.assignments.length > 0) reasons.push('it sets a variable for what follows')
    }
    const [first] = node.type === 'Pipeline' ? node.commands : []
    forEachChild(node, (child) => visit(child, node.type === 'Pipeline' ? child !== first : fed))
  }
  try {
    visit(parse(text), false)
  } catch {
    return NOTHING_SEEN // deeper than the parser or the stack goes: as good as unreadable
  }
  return { commands, unclear: unreadable ? 'it cannot be parsed' : (reasons[0] ?? null), unreadable }
}

const hasErrors = (script: ParsedScript): boolean => (script.errors?.length ?? 0) > 0

/** `CommandExpansion` → `command expansion`. */
const wordsOf = (type: string): string => type.replaceAll(/(?<=[a-z])[A-Z]/g, (letter) => ` ${letter}`).toLowerCase()

/** `fed`: whether what it reads from its input comes from a pipe or a here-document, so a shell there runs text that is not seen here. */
function simpleCommand(command: Command, fed: boolean): SimpleCommand {
  const words = [command.name, ...command.args].flatMap((argument) => (argument === undefined ? [] : [shellWord(argument.type === 'Word' ? argument : undefined, argument.text)]))
  const assignments = command.prefix.flatMap((part) => (part.type === 'Assignment' ? [part.text] : []))
  const redirected = command.redirects.some(({ operator }) => operator.startsWith('<'))
  return { words, assignments, fed: fed || redirected }
}

const shellWord = (word: Word | undefined, text: string): ShellWord => ({ text, value: word === undefined ? text : valueOf(word) })

const valueOf = (word: Word): string => (word.parts === undefined ? withoutTilde(word.value) : word.parts.map(valueOfPart).join(''))

/** `~` at the start of a bare word is a home folder. */
const withoutTilde = (value: string): string => (value.startsWith('~') ? `${ANY}${value.slice(1)}` : value)

function valueOfPart(part: WordPart): string {
  switch (part.type) {
    case 'Literal':
    case 'SingleQuoted':
    case 'AnsiCQuoted':
      return part.value
    case 'DoubleQuoted':
    case 'LocaleString':
      return part.parts.map(valueOfPart).join('')
    case 'Glob':
    case 'SimpleExpansion':
    case 'ParameterExpansion':
    case 'CommandExpansion':
    case 'ArithmeticExpansion':
    case 'ProcessSubstitution':
    case 'ExtendedGlob':
    case 'BraceExpansion':
      return ANY
  }
}

/** What a redirection does beside the command: only a stream joined to another, input from a plain file and `/dev/null` do nothing. */
function effectsOf(redirection: Redirection): readonly string[] {
  if (redirection.type !== 'Redirect') return []
  const target = redirection.target === undefined ? ANY : valueOf(redirection.target)
  if (target === '/dev/null' || ((redirection.operator === '>&' || redirection.operator === '<&') && /^(\d+-?|-)$/.test(target))) return []
  if (redirection.operator === '<' && !target.startsWith('/dev/') && !target.includes(ANY)) return []
  return [`it redirects to or from ${redirection.target?.text ?? 'something unknown'}`]
}
