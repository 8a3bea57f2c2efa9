/**
 * Puts a place into a queue and waits until its `go` is called, by whoever takes it out. Rejects with the signal's reason if that comes first: the place
 * is out of the queue then. One taken out in the same moment is used.
 */
export async function waitIn<Place, Value>(queue: Set<Place>, signal: AbortSignal, placeOf: (go: (value: Value) => void) => Place, entered: () => void = () => {}): Promise<Value> {
  const { promise, resolve, reject } = Promise.withResolvers<Value>()
  const place = placeOf(resolve)
  const onAbort = () => {
    if (queue.delete(place)) reject(signal.reason)
  }
  queue.add(place)
  signal.addEventListener('abort', onAbort, { once: true })
  entered()
  try {
    return await promise
  } finally {
    signal.removeEventListener('abort', onAbort)
  }
}
