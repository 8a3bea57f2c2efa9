import { waitIn } from './wait-in.ts'

/** Who wants to write. `ancestors`: the agents above it, by id. */
export type Writer = { readonly agent: string; readonly title: string; readonly ancestors: readonly string[] }

/** The right to write in a root, for as long as it is held. */
export type Hold = {
  /** Lets agents below its own write while that one is blocked on them. May be called once per child. */
  lend(): void
  /** Ends one `lend`; resolves when all are ended and none of them writes any more, ahead of those that have not begun. */
  reclaim(): Promise<void>
  /** Gives the right back for good; a second call does nothing. */
  leave(): void
}

/** The write gate of one root (KIN-04): readers never come here. */
export type Gate = {
  /** The right at once; null when `enter` would wait. */
  take(writer: Writer): Hold | null
  /** Resolves in order of asking, when nobody else writes; rejects with the signal's reason. */
  enter(writer: Writer, signal: AbortSignal): Promise<Hold>
  /** Who writes now. */
  readonly holder: Writer | null
  /** How many wait. */
  readonly waiting: number
  /** Whether nobody is in it or waits. */
  readonly isIdle: boolean
}

/** `back`: what resolves once it is its own again, for all who wait for that. */
type Held = { readonly writer: Writer; lent: number; back: PromiseWithResolvers<void> | null }
type Waiting = { readonly writer: Writer; readonly go: (held: Held) => void }

/**
 * Two writers never hold one root. Who is blocked on its children lends it to them, and to those below (KIN-05): they take turns, and all others go
 * on waiting for the whole of it, so that nobody comes between an agent's own steps.
 */
export function createGate(): Gate {
  /** The holder, then the one it lent to, and so on inwards. */
  const stack: Held[] = []
  const queue = new Set<Waiting>()

  function mayEnter({ ancestors }: Writer): boolean {
    const inner = stack.at(-1)
    return inner === undefined || (inner.lent > 0 && ancestors.includes(inner.writer.agent))
  }

  function push(writer: Writer): Held {
    const held: Held = { writer, lent: 0, back: null }
    stack.push(held)
    return held
  }

  /** Hands on what has become free: to the one that lent it, then to who waits, in order. */
  function pump(): void {
    const inner = stack.at(-1)
    if (inner?.back && inner.lent === 0) {
      inner.back.resolve()
      inner.back = null
      return
    }
    const next = queue.values().find(({ writer }) => mayEnter(writer))
    if (!next) return
    queue.delete(next)
    next.go(push(next.writer))
  }

  const holdOf = (held: Held): Hold => ({
    lend() {
      held.lent += 1
      pump()
    },
    async reclaim() {
      held.lent -= 1
      if (!stack.includes(held)) return
      held.back ??= Promise.withResolvers()
      const { promise } = held.back
      pump()
      await promise
    },
    leave() {
      const at = stack.indexOf(held)
      if (at < 0) return
      stack.splice(at, 1)
      held.back?.resolve()
      held.back = null
      pump()
    },
  })

  function take(writer: Writer): Hold | null {
    // Whoever waits already and could go is ahead of a newcomer.
    if (!mayEnter(writer) || queue.values().some((other) => mayEnter(other.writer))) return null
    return holdOf(push(writer))
  }

  return {
    take,
    async enter(writer, signal) {
      signal.throwIfAborted()
      const free = take(writer)
      if (free) return free
      return holdOf(await waitIn<Waiting, Held>(queue, signal, (go) => ({ writer, go })))
    },
    get holder() {
      return stack.at(-1)?.writer ?? null
    },
    get waiting() {
      return queue.size
    },
    get isIdle() {
      return stack.length === 0 && queue.size === 0
    },
  }
}

/** The gates of a process, one for each root. */
export function createGates(): (root: string) => Gate {
  const gates = new Map<string, Gate>()
  return (root) => {
    const known = gates.get(root)
    if (known) return known
    // Roots come and go with worktrees: those nobody is in are forgotten.
    for (const [other, gate] of gates) if (gate.isIdle) gates.delete(other)
    const gate = createGate()
    gates.set(root, gate)
    return gate
  }
}
