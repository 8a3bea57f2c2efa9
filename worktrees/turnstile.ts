/** Lets `limit` callers in at a time, in order; each gets the function that lets it out. */
export function turnstile(limit: number): () => Promise<() => void> {
  const waiting: (() => void)[] = []
  let inside = 0
  const leave = (): void => {
    const next = waiting.shift()
    if (next) next()
    else inside -= 1
  }
  return async () => {
    if (inside < limit) inside += 1
    else await new Promise<void>((resolve) => waiting.push(resolve))
    return leave
  }
}
