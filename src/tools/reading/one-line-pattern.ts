/** How a pattern can be run over a whole text at once, and how many ways of matching it may have to try. */
export type PatternFacts = {
  /** The same pattern, rewritten so that no part of it matches a newline, for the flag `m`; null when that cannot be told. */
  readonly whole: string | null
  /** Alternatives that double the work at worst. */
  readonly branches: number
  /** Repetitions, each of which multiplies the work by the length of a line at worst; Infinity for nested ones and back references. */
  readonly repeats: number
}

/** Whitespace without the newline, and the complements of `\w` and `\d` without it, as members of a class. */
const MEMBERS: Readonly<Record<string, string>> = {
  s: '\\t\\v\\f\\r \\u00a0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000\\ufeff',
  W: '\\x00-\\x09\\x0b-\\x2f:-@\\[-\\^\\x60{-\\uffff',
  D: '\\x00-\\x09\\x0b-\\x2f:-\\uffff',
}
const ATOMS: Readonly<Record<string, string>> = { s: '[^\\S\\n]', W: '[^\\w\\n]', D: '[^\\d\\n]' }
/** Properties none of whose characters is a newline: letters, marks, numbers, punctuation, symbols and scripts. */
const SAFE_PROPERTY = /^p\{(?:[LMNPS][a-z]?|Letter|Number|Alphabetic|Lowercase|Uppercase|ID_Start|ID_Continue|(?:Script|sc)=(?!Common\b|Zyyy\b)\w+)\}/

/** Looks through a valid pattern (flags: none, or `u`). */
export function analysePattern(source: string, unicode: boolean): PatternFacts {
  let whole: string | null = ''
  let branches = 0
  let repeats = 0
  let afterGroup = false
  const add = (text: string | null): void => {
    whole = whole === null || text === null ? null : whole + text
  }
  for (let at = 0; at < source.length;) {
    const char = source.charAt(at)
    const next = source.charAt(at + 1)
    let length = 1
    let endsGroup = false
    if (char === '\\') {
      const escape = escapeAt(source.slice(at + 1), unicode)
      length = 1 + escape.length
      add(escape.whole)
      if (escape.refersBack) repeats = Infinity
    } else if (char === '[') {
      const set = classAt(source.slice(at), unicode)
      length = set.length
      add(set.whole)
    } else if (char === '(' && next === '?') {
      length = /^\(\?(?:[:=!]|<[=!]|<[^>]*>)/.exec(source.slice(at))?.[0].length ?? 0
      add(length === 0 ? null : source.slice(at, at + length))
      if (length === 0) length = 2
    } else {
      if (char === ')') endsGroup = true
      if (char === '|') branches += 1
      if (char === '?') branches += 1
      if (char === '*' || char === '+' || char === '{') repeats += afterGroup ? Infinity : 1
      add(char === '\n' ? null : char)
    }
    afterGroup = endsGroup
    at += length
  }
  return { whole, branches, repeats }
}

type Part = { readonly whole: string | null; readonly length: number }

/** What stands behind a backslash. */
function escapeAt(rest: string, unicode: boolean): Part & { readonly refersBack: boolean } {
  const char = rest.charAt(0)
  const refersBack = char === 'k' || /[1-9]/.test(char)
  const property = unicode ? SAFE_PROPERTY.exec(rest)?.[0] : undefined
  if (property !== undefined) return { whole: `\\${property}`, length: property.length, refersBack }
  const unsure = /^(?:[ncpP0]|\d\d|[xu])/.test(rest)
  const atom = Object.hasOwn(ATOMS, char) ? ATOMS[char] : `\\${char}`
  return { whole: unsure ? null : (atom ?? null), length: Math.max(1, char.length), refersBack }
}

/** A character class, from its bracket on. */
function classAt(rest: string, unicode: boolean): Part {
  const body = /^\[\^?((?:\\[^]|[^\]\\])*)\]/.exec(rest)
  if (!body) return { whole: null, length: 1 }
  const [all, inner = ''] = body
  const negated = all.startsWith('[^')
  return { whole: negated ? negatedClass(inner) : positiveClass(inner, unicode), length: all.length }
}

/** One more member takes the newline out, whatever the others are. */
const negatedClass = (inner: string): string => `[^\\n${inner.startsWith('-') ? '\\' : ''}${inner}]`

function positiveClass(inner: string, unicode: boolean): string | null {
  // A control character or an escape may begin a range that runs over the newline.
  if (/\p{Cc}/u.test(inner) || /\\(?:[cnxu\d]|[tvfrb]-)/.test(inner)) return null
  if (unicode && !onlySafeProperties(inner)) return null
  return `[${inner.replaceAll(/\\([^])/g, (escape, char: string) => (Object.hasOwn(MEMBERS, char) ? (MEMBERS[char] ?? escape) : escape))}]`
}

function onlySafeProperties(inner: string): boolean {
  return [...inner.matchAll(/\\[^](?:\{[^}]*\})?/g)].every(([escape]) => !/^\\[pPWDs]/.test(escape) || SAFE_PROPERTY.test(escape.slice(1)))
}
