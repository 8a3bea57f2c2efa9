/** Glob patterns apart into what to take and what to leave out. */
export type Patterns = { readonly take: readonly string[]; readonly leave: readonly string[] }

const OPENING = '{[('
const CLOSING = '}])'

/**
 * Splits `src/**,!**\/*.test.ts` at its commas. A comma inside `{}`, `[]` or `()` or after a backslash belongs to the pattern; `!` takes
 * files away, wherever it stands in the list, unless it begins an extended pattern such as `!(a|b)`. Only `!` patterns: all other files.
 */
export function splitPatterns(over: string): Patterns {
  const all = splitAtCommas(over).map((pattern) => pattern.trim()).filter(Boolean)
  const isNegated = (pattern: string) => pattern.startsWith('!') && !pattern.startsWith('!(')
  const take = all.filter((pattern) => !isNegated(pattern))
  const leave = all.filter(isNegated).map((pattern) => pattern.slice(1))
  return { take: take.length === 0 && leave.length > 0 ? ['**/*'] : take, leave }
}

function splitAtCommas(text: string): readonly string[] {
  const parts: string[] = []
  let part = ''
  let depth = 0
  for (let i = 0; i < text.length; i += 1) {
    const char = text.charAt(i)
    if (char === '\\' && i + 1 < text.length) {
      const next = text.charAt((i += 1))
      part += next === ',' ? ',' : char + next
      continue
    }
    if (OPENING.includes(char)) depth += 1
    if (CLOSING.includes(char)) depth = Math.max(0, depth - 1)
    if (char === ',' && depth === 0) {
      parts.push(part)
      part = ''
    } else part += char
  }
  return [...parts, part]
}
