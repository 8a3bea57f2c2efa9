/**
 * Texts in which some characters are not known: `ANY` stands for any text, the empty one included. It is a private-use character, so a
 * star that somebody wrote is never taken for it.
 */
export const ANY = '\uE000'

/** A pattern as people write it (`npm run *`), with each `*` turned into `ANY`. */
export const fromStars = (pattern: string): string => pattern.replaceAll(ANY, '').replaceAll('*', ANY)

/**
 * Whether some text fits both: two patterns meet when one filling of their unknown parts gives the same text. With a text that has no
 * unknown part this is plain wildcard matching. Time and space grow with the product of the lengths, never worse.
 */
export function wildcardsMeet(a: string, b: string): boolean {
  // row[j]: whether the first i characters of `a` meet the first j of `b`.
  let row = leadingAny(b)
  for (let i = 1; i <= a.length; i += 1) {
    const open = a[i - 1] === ANY
    const next = [open && row[0] === true]
    for (let j = 1; j <= b.length; j += 1) {
      const eitherAny = open || b[j - 1] === ANY
      next.push(eitherAny ? row[j] === true || next[j - 1] === true : row[j - 1] === true && a[i - 1] === b[j - 1])
    }
    if (!next.includes(true)) return false
    row = next
  }
  return row[b.length] === true
}

/** What an empty text meets: as many leading `ANY` as there are. */
function leadingAny(text: string): boolean[] {
  const row = [true]
  for (const character of text) row.push(row.at(-1) === true && character === ANY)
  return row
}
