/**
 * Splits `Read, Bash(npm test, --x), Agent(a, b)` at the commas outside brackets (TYP-11). One pair of `[…]` around the whole and quotes
 * around an entry are taken off; blank entries are dropped.
 */
export function listEntries(written: string): readonly string[] {
  const whole = written.trim()
  const text = whole.startsWith('[') && whole.endsWith(']') ? whole.slice(1, -1) : whole
  const entries: string[] = []
  let depth = 0
  let quote = ''
  let from = 0
  for (let i = 0; i <= text.length; i += 1) {
    const char = text[i]
    if (char === undefined || (char === ',' && depth === 0 && quote === '')) {
      entries.push(unquote(text.slice(from, i).replaceAll(/\s+/g, ' ').trim()))
      from = i + 1
    } else if (quote !== '') {
      if (char === quote) quote = ''
    } else if (isQuote(char) && text.slice(from, i).trim() === '' && text.includes(char, i + 1)) quote = char
    else if (char === '(') depth += 1
    else if (char === ')') depth = Math.max(0, depth - 1)
  }
  return entries.filter((entry) => entry !== '')
}

/** Puts together again what a list parser split inside brackets: `['Agent(a', 'b)']` is `['Agent(a, b)']`. */
export function joinBrackets(items: readonly string[]): readonly string[] {
  const joined: string[] = []
  let open = ''
  for (const item of items) {
    const entry = open === '' ? item : `${open}, ${item}`
    open = count(entry, '(') > count(entry, ')') ? entry : ''
    if (open === '') joined.push(entry)
  }
  return open === '' ? joined : [...joined, open]
}

const count = (text: string, char: string): number => text.split(char).length - 1
const isQuote = (char: string): boolean => char === '"' || char === '\''
const unquote = (entry: string): string => (/^(["']).*\1$/s.test(entry) && entry.length > 1 ? entry.slice(1, -1) : entry)
