/** The line, from 0, of a place in a text. */
export const lineAt = (text: string, offset: number): number => {
  let line = 0
  for (let at = text.indexOf('\n'); at !== -1 && at < offset; at = text.indexOf('\n', at + 1)) line += 1
  return line
}

/** Brackets open at once, outside quotes: the parser spends half a second on thousands before it gives up. */
const MAX_BRACKETS = 64

/** Where a text opens more brackets than any value needs; undefined when it does not. */
export function tooDeep(text: string): number | undefined {
  let depth = 0
  for (const { 0: found, index } of text.matchAll(/"(?:\\.|[^"\\])*"|'[^']*'|[[\]{}]/gs)) {
    if (found === '[' || found === '{') depth += 1
    else if (found === ']' || found === '}') depth = Math.max(0, depth - 1)
    if (depth > MAX_BRACKETS) return index
  }
  return undefined
}
