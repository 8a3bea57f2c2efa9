import { posix } from 'node:path'
import { readShell } from './shell-reading.ts'
import type { ShellWord, SimpleCommand } from './shell-reading.ts'
import { ANY } from './wildcards.ts'

/** How deep commands in commands are followed (`sudo env bash -c "…"`), and how many in all; what lies beyond could be anything. */
const INNER_LIMITS = { depth: 8, commands: 200 }

/** Programs that run the command in their own words, after options and, for some, a word of their own. */
const WRAPPERS: ReadonlySet<string> = new Set([
  'env', 'command', 'builtin', 'exec', 'nohup', 'nice', 'ionice', 'time', 'timeout', 'stdbuf', 'setsid', 'sudo', 'doas', 'xargs', 'busybox', 'chroot', 'unshare',
  'flock', 'watch', 'strace', 'parallel', 'caffeinate', 'chrt', 'taskset', 'runuser', 'su', 'script', 'find', 'fd', 'npx', 'bunx', 'toybox', 'trap', 'coproc',
])
/** Wrappers that add words of their own making to the command they run. */
const FEEDERS: ReadonlySet<string> = new Set(['xargs', 'parallel', 'find', 'fd'])
const SHELLS: ReadonlySet<string> = new Set(['sh', 'bash', 'dash', 'zsh', 'ksh', 'ash', 'fish', 'rbash'])

type Candidate = { readonly command: SimpleCommand; readonly depth: number }

const word = (value: string): ShellWord => ({ value, text: value })
const UNKNOWN: SimpleCommand = { words: [word(ANY)], assignments: [], fed: false }

/**
 * Every command that running one may come to: itself, by its bare name too, what its wrappers run, and what a shell in it is told to run.
 * Guesses wide: for rules that forbid, where one candidate too many is an answer too careful, never for rules that allow.
 */
export function commandsWithin(command: SimpleCommand): readonly SimpleCommand[] {
  const found = new Map<string, SimpleCommand>()
  const waiting: Candidate[] = [{ command, depth: 0 }]
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const key = next.command.words.map(({ value }) => value).join('\0')
    if (found.has(key)) continue
    if (next.depth > INNER_LIMITS.depth || found.size >= INNER_LIMITS.commands) return [...found.values(), UNKNOWN]
    found.set(key, next.command)
    waiting.push(...innerOf(next))
  }
  return [...found.values()]
}

function innerOf({ command, depth }: Candidate): readonly Candidate[] {
  const [name, ...rest] = command.words
  if (name === undefined) return []
  const program = posix.basename(name.value)
  if (program !== name.value) return [{ command: { ...command, words: [word(program), ...rest] }, depth }]
  if (program === 'eval') return scriptsOf([rest.map(({ value }) => value).join(' ')], depth + 1)
  if (SHELLS.has(program)) return ranByShell(rest, command.fed, depth + 1)
  if (!WRAPPERS.has(program)) return []
  // Where the inner command begins depends on each wrapper's options: every word may be it.
  const more = FEEDERS.has(program) ? [word(ANY)] : []
  const starts = rest.flatMap(({ value }, index) => (value.startsWith('-') || /^\w+=/.test(value) ? [] : [{ command: { ...command, words: [...rest.slice(index), ...more] }, depth }]))
  return [...starts, ...scriptsIn(rest, depth + 1), ...(program === 'trap' ? scriptsOf(rest.map(({ value }) => value), depth + 1) : [])]
}

/** `sh -c <text>` runs the text; a shell that is given nothing to run runs its input. */
function ranByShell(words: readonly ShellWord[], fed: boolean, depth: number): readonly Candidate[] {
  const inner = scriptsIn(words, depth)
  return fed && inner.length === 0 ? [{ command: UNKNOWN, depth }] : inner
}

/** The texts after an option with a `c` in it (`-c`, `-lc`, `--command`), as `sh`, `su` and `script` take it. */
function scriptsIn(words: readonly ShellWord[], depth: number): readonly Candidate[] {
  const at = words.findIndex(({ value }) => /^-[a-z]*c[a-z]*$/i.test(value) || value === '--command' || value.includes(ANY))
  const joined = words.flatMap(({ value }) => /^--command=(.*)$/s.exec(value)?.[1] ?? [])
  return scriptsOf([...(at < 0 ? [] : words.slice(at + 1).map(({ value }) => value)), ...joined], depth)
}

function scriptsOf(texts: readonly string[], depth: number): readonly Candidate[] {
  return texts.flatMap((text) => {
    const { commands, unreadable } = readShell(text)
    return [...(unreadable ? [UNKNOWN] : []), ...commands].map((command) => ({ command, depth }))
  })
}
