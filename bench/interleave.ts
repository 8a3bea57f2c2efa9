/**
 * Measures several subjects in turn, so often: a machine that gets slower meanwhile slows all of them alike. One more round goes first and is
 * thrown away: it fills the caches. Resolves with each subject's values in order.
 */
export async function interleave<Name extends string, Value>(
  repeats: number, subjects: Readonly<Record<Name, () => Promise<Value>>>, warm = true,
): Promise<Readonly<Record<Name, readonly Value[]>>> {
  const names = Object.keys(subjects) as Name[]
  const values = Object.fromEntries(names.map((name) => [name, []])) as unknown as Record<Name, Value[]>
  for (let round = warm ? -1 : 0; round < repeats; round += 1) {
    for (const name of names) {
      const value = await subjects[name]()
      if (round >= 0) values[name].push(value)
    }
  }
  return values
}
