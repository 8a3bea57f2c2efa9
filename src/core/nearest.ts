/** The candidate with the fewest edits to `word`, ignoring case; undefined when even the best is more than half different. */
export function nearest(word: string, candidates: Iterable<string>): string | undefined {
  const wanted = word.toLowerCase()
  let best: { readonly name: string; readonly edits: number } | undefined
  for (const name of candidates) {
    const edits = editDistance(wanted, name.toLowerCase())
    if (!best || edits < best.edits) best = { name, edits }
  }
  return best && best.edits <= Math.ceil(Math.max(wanted.length, best.name.length) / 2) ? best.name : undefined
}

function editDistance(a: string, b: string): number {
  let previous = Array.from({ length: b.length + 1 }, (_, i) => i)
  for (let i = 1; i <= a.length; i += 1) {
    const row = [i]
    for (let j = 1; j <= b.length; j += 1) {
      const substitution = (previous[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1)
      row.push(Math.min(substitution, (previous[j] ?? 0) + 1, (row[j - 1] ?? 0) + 1))
    }
    previous = row
  }
  return previous[b.length] ?? 0
}
