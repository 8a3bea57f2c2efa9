import { commandsWithin } from './inner-commands.ts'
import { readShell } from './shell-reading.ts'
import type { ShellWord, SimpleCommand } from './shell-reading.ts'
import { ANY, fromStars, wildcardsMeet } from './wildcards.ts'

/** A word the shell would take as it stands: its spelling and its value are one. */
const PLAIN = /^[\w./:=@%+,-]+$/
/** Wrappers that run exactly the words after them and change nothing a rule is about. Written in full, without options of their own. */
const TRANSPARENT = [/^(nohup|nice) /, /^timeout \d+(\.\d+)?[smhd]? /]

/**
 * Whether specifiers such as `npm test *` or `npm run test:*` let a whole shell text through: every simple command in it matches one of them,
 * and there is nothing else in it: no expansion, no file written, no part that cannot be read (GRA-04, PRM-03). A `*` stands for any text; at
 * the end, after a space or a colon, also for nothing.
 */
export function commandAllowed(patterns: readonly string[], text: string): boolean {
  const { commands, unclear } = readShell(text)
  return unclear === null && commands.length > 0 && commands.every((command) => patterns.some((pattern) => simpleAllowed(pattern, command)))
}

/**
 * Whether any part of a shell text could be a command a specifier names: also behind a path, a wrapper such as `env` or `sudo`, `sh -c`, an
 * expansion, or in a part that cannot be read. For rules that forbid; like any rule about a text it is no wall around the program: that is
 * the sandbox.
 */
export function commandTouched(pattern: string, text: string): boolean {
  const { commands, unreadable } = readShell(text)
  return unreadable || commands.flatMap((command) => commandsWithin(command)).some((command) => simpleTouched(pattern, command))
}

function simpleAllowed(pattern: string, command: SimpleCommand): boolean {
  const [name] = command.words
  if (name === undefined || !PLAIN.test(name.value)) return false
  // A variable set for one command can turn it into another (PATH, LD_PRELOAD): only a pattern that names it lets it through.
  if (command.assignments.length > 0 && !/^\w+\+?=/.test(pattern)) return false
  const written = [...command.assignments, ...command.words.map(spelled)].join(' ')
  return variants(written).some((text) => ends(pattern).some((end) => wildcardsMeet(end, text)))
}

const variants = (text: string): readonly string[] => {
  for (const wrapper of TRANSPARENT) if (wrapper.test(text)) return [text, ...variants(text.replace(wrapper, ''))]
  return [text]
}

/** A word with quotes it does not need is the bare word; any other stays as it was written, so that no space of its own looks like two words. */
const spelled = ({ value, text }: ShellWord): string => (PLAIN.test(value) ? value : text.replaceAll(ANY, ''))

function simpleTouched(pattern: string, command: SimpleCommand): boolean {
  const values = command.words.map(({ value }) => value).join(' ')
  const texts = [values, command.words.map(({ text }) => text).join(' '), ...command.assignments.map((_, index) => [...command.assignments.slice(index), values].join(' '))]
  // `npm run deploy:*` is meant for `npm run deploy:prod` as often as for `npm run deploy prod`.
  const patterns = [...ends(pattern), ...(pattern.endsWith(':*') ? [fromStars(pattern)] : [])]
  return texts.some((text) => patterns.some((end) => wildcardsMeet(end, text)))
}

/** `npm test *` and `npm test:*` match `npm test` and `npm test x`, never `npm tests`. */
function ends(pattern: string): readonly string[] {
  const head = /^(.*?)(?::\*| +\*)$/s.exec(pattern)?.[1]
  return head === undefined ? [fromStars(pattern)] : [fromStars(head), `${fromStars(head)} ${ANY}`]
}
