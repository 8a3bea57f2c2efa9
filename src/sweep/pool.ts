/**
 * Runs `work` on every item, at most `parallel` at a time, in order of the list. Once `stop` is aborted no more are begun. Resolves when
 * all begun ones have settled; if some rejected, it begins no more, calls `onError` at once and rejects with the first error in the end.
 */
export async function pool<Item>(
  items: readonly Item[],
  parallel: number,
  stop: AbortSignal,
  work: (item: Item) => Promise<void>,
  onError: (error: unknown) => void = () => undefined,
): Promise<void> {
  const errors: unknown[] = []
  const queue = items.values()
  const lane = async () => {
    while (!stop.aborted && errors.length === 0) {
      const next = queue.next()
      if (next.done) return
      try {
        await work(next.value)
      } catch (error) {
        if (errors.push(error) === 1) onError(error)
      }
    }
  }
  await Promise.all(Array.from({ length: Math.min(parallel, items.length) }, lane))
  if (errors.length > 0) throw errors[0]
}
