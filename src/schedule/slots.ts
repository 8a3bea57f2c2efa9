/** A place among the running agents of a session. */
export type Slot = {
  /** Gives the place back for good; a second call does nothing. */
  leave(): void
  /** Gives the place to others while this agent is blocked on its children, so that nesting cannot deadlock. May be called once per child. */
  lend(): void
  /** Ends one `lend`; after the last one, resolves when a place is free again, ahead of everyone who waits for a first one. */
  reclaim(): Promise<void>
}

export type Slots = {
  /** Resolves in order of asking, when a place is free; rejects with the signal's reason. */
  enter(signal: AbortSignal): Promise<Slot>
  readonly running: number
  readonly queued: number
  /** Whether `enter` would wait. */
  readonly full: boolean
}

/** At most `max` agents at once; the others wait in order (KIN-07). */
export function createSlots(max: number): Slots {
  let running = 0
  /** Agents that lent their place and want it back go before agents that have not begun. */
  const returning: (() => void)[] = []
  const waiting = new Set<() => void>()

  const free = () => {
    running -= 1
    const next = returning.shift() ?? waiting.values().next().value
    if (next) {
      waiting.delete(next)
      running += 1
      next()
    }
  }

  function makeSlot(): Slot {
    let lent = 0
    let left = false
    return {
      leave() {
        if (left) return
        left = true
        if (lent === 0) free()
      },
      lend() {
        lent += 1
        if (lent === 1 && !left) free()
      },
      async reclaim() {
        if (lent > 1 || left) {
          lent -= 1
          return
        }
        if (running < max) running += 1
        else {
          const { promise, resolve } = Promise.withResolvers<void>()
          returning.push(resolve)
          await promise
        }
        lent -= 1
        // It ended, or lent its place to another child, while it waited for its own: what it just got goes on.
        if (left || lent > 0) free()
      },
    }
  }

  return {
    get running() {
      return running
    },
    get queued() {
      return waiting.size
    },
    get full() {
      return running >= max
    },
    async enter(signal) {
      signal.throwIfAborted()
      if (running < max) {
        running += 1
        return makeSlot()
      }
      const { promise, resolve, reject } = Promise.withResolvers<void>()
      const onAbort = () => {
        // Handed a place in the same moment: `waiting` no longer holds it, and the place is used.
        if (waiting.delete(resolve)) reject(signal.reason)
      }
      waiting.add(resolve)
      signal.addEventListener('abort', onAbort, { once: true })
      try {
        await promise
      } finally {
        signal.removeEventListener('abort', onAbort)
      }
      return makeSlot()
    },
  }
}
