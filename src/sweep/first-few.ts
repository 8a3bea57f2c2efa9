/** Keeps the first `limit` of any number of things in a given order, in memory for `2 × limit`. */
export type FirstFew<Thing> = { add(thing: Thing): void; list(): readonly Thing[] }

export function createFirstFew<Thing>(limit: number, compare: (a: Thing, b: Thing) => number): FirstFew<Thing> {
  let kept: Thing[] = []
  const trim = () => (kept = kept.toSorted(compare).slice(0, limit))
  return {
    add(thing) {
      kept.push(thing)
      if (kept.length >= 2 * limit) trim()
    },
    list: () => trim(),
  }
}
