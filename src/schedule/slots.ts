import { createLaunches } from './launches.ts'
import { waitIn } from './wait-in.ts'

/** A place among the running agents of a session. */
export type Slot = {
  /** Whether its agent is blocked on its children. */
  readonly lent: boolean
  /** Gives the place back for good; a second call does nothing. */
  leave(): void
  /** Gives the place to others while this agent is blocked on its children, so that nesting cannot deadlock. May be called once per child. */
  lend(): void
  /** Ends one `lend`; after the last one, resolves when a place is free again, ahead of everyone who waits for a first one. */
  reclaim(): Promise<void>
}

/** What kind of place an agent needs. */
export type Need = {
  /** How many layers of delegation may lie below it (0); one that may delegate at all also counts among those that keep a thread while they are blocked. */
  readonly levels?: number
  /** Whether it runs in the background (KIN-07). */
  readonly background?: boolean
  /** Whether a model asked for it: such starts are paced (KIN-08). */
  readonly paced?: boolean
}

export type Slots = {
  /** A place that is free at once; null when `enter` would wait. */
  take(need?: Need): Slot | null
  /** Resolves in order of asking, when a place is free; rejects with the signal's reason. */
  enter(signal: AbortSignal, need?: Need): Promise<Slot>
  readonly running: number
  readonly queued: number
  /** Whether `enter` would wait. */
  isFull(need?: Need): boolean
}

export type SlotLimits = {
  readonly running: number
  readonly background?: number
  readonly lenders?: number
  readonly launchPerSecond?: number
}

type Waiting = { readonly need: Need; readonly go: () => void }

/**
 * At most `running` agents run at once, and `background` of them in the background; the others wait in order (KIN-07). An agent blocked on its
 * children does not count (KIN-05), but it keeps its thread: so at most `lenders` agents that may delegate are alive, and there is always a thread
 * left for those that cannot. Of these places each deeper layer keeps one to itself, so that whoever is blocked on a child that delegates gets it
 * too.
 */
export function createSlots({ running: max, background: maxBackground = Infinity, lenders: maxLenders = Infinity, launchPerSecond = Infinity }: SlotLimits): Slots {
  const launches = createLaunches(launchPerSecond)
  let running = 0
  let inBackground = 0
  let lenders = 0
  let look: NodeJS.Timeout | undefined
  /** Agents that lent their place and want it back go before agents that have not begun. */
  const returning = new Set<Waiting>()
  const waiting = new Set<Waiting>()

  const hasRoom = ({ background }: Need) => running < max && (!background || inBackground < maxBackground)
  const admits = (need: Need) => hasRoom(need)
    && (!need.levels || lenders < Math.max(1, maxLenders - (need.levels - 1)))
    && (!need.paced || launches.wait() === 0)

  /** Whoever waits already and could go is ahead of a newcomer. */
  const mustWait = (need: Need) => !admits(need) || waiting.values().some((other) => admits(other.need))

  function run({ background }: Need): void {
    running += 1
    if (background) inBackground += 1
  }

  function take(need: Need): void {
    run(need)
    if (need.levels) lenders += 1
    if (need.paced) launches.note()
  }

  /** Hands free places on, in order; one that must wait for more than a place lets others pass. */
  function pump(): void {
    while (running < max) {
      const back = returning.values().find(({ need }) => hasRoom(need))
      const next = back ?? waiting.values().find(({ need }) => admits(need))
      if (!next) break
      if (back) {
        returning.delete(back)
        run(back.need)
      } else {
        waiting.delete(next)
        take(next.need)
      }
      next.go()
    }
    clearTimeout(look)
    const due = launches.wait()
    if (due > 0 && waiting.size > 0) look = setTimeout(pump, due)
  }

  function free({ background }: Need): void {
    running -= 1
    if (background) inBackground -= 1
    pump()
  }

  function makeSlot(need: Need): Slot {
    let lent = 0
    let left = false
    let giveUp = () => {}

    /** Whether it has its place again; else it left for good while it waited. */
    async function comesBack(): Promise<boolean> {
      const { promise, resolve } = Promise.withResolvers<boolean>()
      const back: Waiting = { need, go: () => resolve(true) }
      returning.add(back)
      giveUp = () => {
        if (returning.delete(back)) resolve(false)
      }
      return promise
    }

    return {
      get lent() {
        return lent > 0
      },
      leave() {
        if (left) return
        left = true
        if (need.levels) lenders -= 1
        giveUp()
        if (lent === 0) free(need)
        else pump()
      },
      lend() {
        lent += 1
        if (lent === 1 && !left) free(need)
      },
      async reclaim() {
        if (lent > 1 || left) {
          lent -= 1
          return
        }
        if (hasRoom(need)) run(need)
        else if (!await comesBack()) return
        lent -= 1
        // It ended, or lent its place to another child, while it waited for its own: what it just got goes on.
        if (left || lent > 0) free(need)
      },
    }
  }

  function takeNow(need: Need = {}): Slot | null {
    if (mustWait(need)) return null
    take(need)
    return makeSlot(need)
  }

  return {
    get running() {
      return running
    },
    get queued() {
      return waiting.size
    },
    isFull: (need = {}) => mustWait(need),
    take: takeNow,
    async enter(signal, need = {}) {
      signal.throwIfAborted()
      const free = takeNow(need)
      if (free) return free
      await waitIn<Waiting, void>(waiting, signal, (go) => ({ need, go }), pump)
      return makeSlot(need)
    },
  }
}
