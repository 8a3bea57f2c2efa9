/**
 * Translates a pattern of a .gitignore file into a regular expression with git's meaning: `*`, `?` and `[…]` never match a slash, two or
 * more stars between slashes match any number of folders, a backslash takes the next character as it is. Returns null for patterns that
 * match nothing (an open bracket, a backslash at the end). Pattern and subject are bytes as Latin-1 characters, because git matches bytes.
 */
export function wildmatch(pattern: string, ignoreCase: boolean): RegExp | null {
  let source = ''
  for (let at = 0; at < pattern.length;) {
    const char = pattern.charAt(at)
    if (char === '*') {
      const stars = /^\*+/.exec(pattern.slice(at))?.[0].length ?? 1
      const folders = stars >= 2 && (at === 0 || pattern[at - 1] === '/')
      at += stars
      if (folders && pattern[at] === '/') {
        source += '(?:[^]*/)?'
        at += 1
      } else {
        source += folders && at === pattern.length ? '[^]*' : '[^/]*'
      }
    } else if (char === '[') {
      const set = bracket(pattern, at)
      if (set === null) return null
      source += set.source
      at = set.end
    } else if (char === '\\') {
      if (at + 1 === pattern.length) return null
      source += literal(pattern.charAt(at + 1))
      at += 2
    } else {
      source += char === '?' ? '[^/]' : literal(char)
      at += 1
    }
  }
  return new RegExp(`^${source}$`, ignoreCase ? 'i' : '')
}

/** Whether a pattern is plain text. */
export const isLiteral = (pattern: string): boolean => !/[*?[\\]/.test(pattern)

const literal = (char: string): string => char.replace(/[\\^$.*+?()[\]{}|/-]/, '\\$&')

const POSIX_CLASSES: Readonly<Record<string, string>> = {
  alnum: '0-9A-Za-z', alpha: 'A-Za-z', blank: ' \\t', cntrl: '\\x00-\\x1f\\x7f', digit: '0-9', graph: '\\x21-\\x7e', lower: 'a-z',
  print: '\\x20-\\x7e', punct: '\\x21-\\x2f:-@\\[-`{-~', space: ' \\t-\\r', upper: 'A-Z', xdigit: '0-9A-Fa-f',
}

/** The set that opens at `open`: `[abc]`, `[!a-z]`, `[^]x]`, `[[:digit:]]`. */
function bracket(pattern: string, open: number): { readonly source: string; readonly end: number } | null {
  let at = open + 1
  const negated = pattern[at] === '!' || pattern[at] === '^'
  if (negated) at += 1
  const start = at
  let source = ''
  for (;;) {
    const char = pattern[at]
    if (char === undefined) return null
    if (char === ']' && at > start) break
    const posix = char === '[' && pattern[at + 1] === ':' ? /^\[:([a-z]*):\]/.exec(pattern.slice(at)) : null
    if (posix) {
      const members = POSIX_CLASSES[posix[1] ?? '']
      if (members === undefined) return null
      source += members
      at += posix[0].length
      continue
    }
    const from = member(pattern, at)
    if (from === null) return null
    at = from.end
    if (pattern[at] === '-' && pattern[at + 1] !== undefined && pattern[at + 1] !== ']') {
      const to = member(pattern, at + 1)
      if (to === null) return null
      at = to.end
      // A range that runs backwards is its first character, as for git.
      source += from.char <= to.char ? `${literal(from.char)}-${literal(to.char)}` : literal(from.char)
    } else {
      source += literal(from.char)
    }
  }
  if (negated) return { source: `[^/${source}]`, end: at + 1 }
  return { source: `(?!/)[${source}]`, end: at + 1 }
}

function member(pattern: string, at: number): { readonly char: string; readonly end: number } | null {
  const escaped = pattern[at] === '\\'
  const char = pattern[escaped ? at + 1 : at]
  return char === undefined ? null : { char, end: at + (escaped ? 2 : 1) }
}
