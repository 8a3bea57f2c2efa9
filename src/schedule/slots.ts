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
  /**
   * Resolves in order of asking, when a place is free; rejects with the signal's reason. `levels`: how many layers of delegation may lie below
   * the agent; one that may delegate at all also counts among those that keep a thread while they are blocked.
   */
  enter(signal: AbortSignal, levels?: number): Promise<Slot>
  readonly running: number
  readonly queued: number
  /** Whether `enter` would wait. */
  isFull(levels?: number): boolean
}

type Waiting = { readonly levels: number; readonly go: () => void }

/**
 * At most `max` agents run at once; the others wait in order (KIN-07). An agent blocked on its children does not count (KIN-05), but it keeps its
 * thread: so at most `maxLenders` agents that may delegate are alive, and there is always a thread left for those that cannot. Of these places
 * each deeper layer keeps one to itself, so that whoever is blocked on a child that delegates gets it too.
 */
export function createSlots(max: number, maxLenders = Infinity): Slots {
  let running = 0
  let lenders = 0
  /** Agents that lent their place and want it back go before agents that have not begun. */
  const returning: (() => void)[] = []
  const waiting = new Set<Waiting>()

  const admits = (levels: number) => running < max && (levels === 0 || lenders < Math.max(1, maxLenders - (levels - 1)))

  function take(levels: number): void {
    running += 1
    if (levels > 0) lenders += 1
  }

  /** Hands free places on, in order; one that waits for a lender's place lets others pass. */
  function pump(): void {
    while (running < max) {
      const back = returning.shift()
      const next = back ? undefined : [...waiting].find(({ levels }) => admits(levels))
      if (back) {
        running += 1
        back()
      } else if (next) {
        waiting.delete(next)
        take(next.levels)
        next.go()
      } else return
    }
  }

  function free(): void {
    running -= 1
    pump()
  }

  function makeSlot(levels: number): Slot {
    let lent = 0
    let left = false
    return {
      leave() {
        if (left) return
        left = true
        if (levels > 0) lenders -= 1
        if (lent === 0) free()
        else pump()
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
    isFull: (levels = 0) => !admits(levels),
    async enter(signal, levels = 0) {
      signal.throwIfAborted()
      if (admits(levels)) {
        take(levels)
        return makeSlot(levels)
      }
      const { promise, resolve, reject } = Promise.withResolvers<void>()
      const place: Waiting = { levels, go: resolve }
      // Handed a place in the same moment: `waiting` no longer holds it, and the place is used.
      const onAbort = () => {
        if (waiting.delete(place)) reject(signal.reason)
      }
      waiting.add(place)
      signal.addEventListener('abort', onAbort, { once: true })
      try {
        await promise
      } finally {
        signal.removeEventListener('abort', onAbort)
      }
      return makeSlot(levels)
    },
  }
}
