import type { Bench } from './bench.ts'

/** What is measured, by name. */
export type Subjects<Values> = { readonly [Name in keyof Values]: () => Promise<Values[Name]> }

/**
 * Measures several subjects in turn, so often: a machine that gets slower meanwhile slows all of them alike. One more round goes first and is
 * thrown away, unless it is to be quick: it fills the caches. Resolves with each subject's values in order.
 */
export async function interleave<Values extends object>(
  { repeats, quick }: Pick<Bench, 'repeats' | 'quick'>, subjects: Subjects<Values>,
): Promise<{ readonly [Name in keyof Values]: readonly Values[Name][] }> {
  const names = Object.keys(subjects) as (keyof Values)[]
  const values = Object.fromEntries(names.map((name) => [name, []])) as unknown as { [Name in keyof Values]: Values[Name][] }
  for (let round = quick ? 0 : -1; round < repeats; round += 1) {
    for (const name of names) {
      const value = await subjects[name]()
      if (round >= 0) values[name].push(value)
    }
  }
  return values
}
