const TOKEN = /"(?:[^"\\]|\\.)*"|[{}[\],:]|[^\s{}[\],:"]+/g

/** Levels whose keys are looked up; below, a file of nothing but brackets would cost the square of its size. */
const DEEPEST = 8

type Level = { readonly path: readonly string[]; key: string | null; readonly list: boolean }

/**
 * Where each key of a JSON text stands: the 1-based line of the key a path leads to. Of a key written twice the last counts, as in
 * `JSON.parse`. Call it only with text that `JSON.parse` accepted; an unknown path is line 1, and so is one too deep.
 */
export function keyLines(text: string): (path: readonly string[]) => number {
  const lines = new Map<string, number>()
  const levels: Level[] = []
  let line = 1
  let counted = 0
  for (const { 0: token, index } of text.matchAll(TOKEN)) {
    line += newLines(text, counted, index)
    counted = index
    const level = levels.at(-1)
    if (token === '{' || token === '[') {
      levels.push({ path: level && levels.length < DEEPEST ? pathOf(level) : [], key: null, list: token === '[' })
    } else if (token === '}' || token === ']') {
      levels.pop()
    } else if (token === ',' && level) {
      level.key = null
    } else if (token.startsWith('"') && level && !level.list && level.key === null) {
      level.key = JSON.parse(token) as string // the pattern matches whole JSON strings only
      if (levels.length <= DEEPEST) lines.set(idOf(pathOf(level)), line)
    }
  }
  return (path) => lines.get(idOf(path)) ?? 1
}

const pathOf = ({ path, key, list }: Level): readonly string[] => [...path, list ? '[]' : (key ?? '')]
const idOf = (path: readonly string[]): string => JSON.stringify(path)

function newLines(text: string, from: number, to: number): number {
  let found = 0
  for (let at = from; at < to; at += 1) if (text[at] === '\n') found += 1
  return found
}
