/** How long a run has been running (KIN-12): monotonic, without what it waits for before it may run or go on. */
export type RunClock = {
  /** Begins to count. */
  start(): void
  readonly started: boolean
  /** Stands still for as long as `wait` takes, once it was started. */
  without<T>(wait: () => Promise<T>): Promise<T>
  /** ms, with those of before. */
  elapsedMs(): number
  /** Calls `then` once it has run for `ms` in all; returns what calls that off. To be called when it has started. */
  at(ms: number, then: () => void): () => void
}

type Alarm = { readonly ms: number; readonly ring: () => void; timer: NodeJS.Timeout | undefined }

/** Node's timers fire at once beyond this. */
const LONGEST_TIMER_MS = 2 ** 31 - 1

/** `beforeMs`: what it ran in processes before this one. The clock of its timers stands still while the machine sleeps, so host sleep ends nobody. */
export function createRunClock(beforeMs = 0): RunClock {
  let sum = beforeMs
  let since: number | null = null
  let waits = 0
  let started = false
  const alarms = new Set<Alarm>()

  const elapsedMs = () => sum + (since === null ? 0 : performance.now() - since)

  function set(alarm: Alarm): void {
    const left = Math.max(0, alarm.ms - elapsedMs())
    alarm.timer = setTimeout(() => {
      if (left > LONGEST_TIMER_MS) return set(alarm)
      alarms.delete(alarm)
      alarm.ring()
    }, Math.min(left, LONGEST_TIMER_MS))
  }

  function go(): void {
    since = performance.now()
    for (const alarm of alarms) set(alarm)
  }

  function stand(): void {
    sum = elapsedMs()
    since = null
    for (const { timer } of alarms) clearTimeout(timer)
  }

  return {
    start() {
      started = true
      go()
    },
    get started() {
      return started
    },
    async without(wait) {
      if (!started) return wait()
      waits += 1
      if (waits === 1) stand()
      try {
        return await wait()
      } finally {
        waits -= 1
        if (waits === 0) go()
      }
    },
    elapsedMs,
    at(ms, ring) {
      const alarm: Alarm = { ms, ring, timer: undefined }
      alarms.add(alarm)
      if (since !== null) set(alarm)
      return () => {
        clearTimeout(alarm.timer)
        alarms.delete(alarm)
      }
    },
  }
}
