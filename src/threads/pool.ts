import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { MessagePort, Worker } from 'node:worker_threads'
import { Piscina } from 'piscina'

import { createLine } from '../core/line.ts'
import { GROWTH, mayGrow } from './growth.ts'

/** Work for one thread. */
export type PoolTask = {
  /** The function of the entry file to call. */
  readonly name: string
  /** Goes before everything that waits. */
  readonly urgent?: boolean
  /** Called once, right before the task gets its thread: what crosses. */
  prepare(seat: Seat): { readonly task: unknown; readonly transfer: readonly MessagePort[] }
  /** Its abort ends the task at once, and the thread it runs in. */
  readonly kill: AbortSignal
}

/** A task's hold on its thread. */
export type Seat = {
  /** Whether others wait for a thread already. */
  readonly crowded: boolean
  /**
   * From now on the task waits for something outside. `give` is called once when another task needs the thread: the task is then to end soon;
   * null: it cannot. Gives the function to call when it waits no longer.
   */
  waits(give: (() => void) | null): () => void
}

export type PoolOptions = { readonly entry: URL; readonly max: number; readonly heapMb: number }

export type Pool = {
  /** Resolves with what the far function gave. Rejects with what ended the thread, or the reason of `kill`. */
  run(task: PoolTask): Promise<unknown>
  /** Starts threads until there are `count`; returns at once. */
  warm(count: number): void
  stats(): { readonly threads: number; readonly busy: number }
  /** Ends all threads. Tasks under way reject. */
  close(): Promise<void>
}

/** How long an idle thread is kept, in ms. */
const IDLE_MS = 10_000

/** In MB. The heap limit holds ordinary growth back; any limit at all also makes a thread about 2 MB smaller. */
const SMALL = { maxYoungGenerationSizeMb: 4, codeRangeSizeMb: 16, stackSizeMb: 4 }

/** Piscina derives its type from the wrong overload of `postMessage`; what it takes is a list. */
type TransferList = NonNullable<Parameters<Piscina['run']>[1]>['transferList'] & readonly MessagePort[]

/** Started from source, every thread would strip the types anew: 100 ms of CPU and 8 MB each, but for this cache. */
const UNBUILT = { NODE_COMPILE_CACHE: join(tmpdir(), 'cadre-compile-cache') }

/**
 * A task with a thread, times in ms of `performance.now`: busy `since` then, or null while it waits; how it gives its thread to another, if it can;
 * when it was asked to, if it was.
 */
type Sitting = { since: number | null; give: (() => void) | null; asked: number | null; readonly fail: (error: unknown) => void }

/**
 * Warm threads, one task in each, in order of arrival; a task that only waits gives its thread to one in line. Piscina keeps the threads; the
 * line in front of it is kept here, because Piscina starts a thread for every waiting task at once, and forgets what waits when the last thread
 * crashes.
 */
export function createPool({ entry, max, heapMb }: PoolOptions): Pool {
  const piscina = new Piscina({
    filename: entry.href,
    name: 'ready',
    minThreads: 0,
    maxThreads: max,
    concurrentTasksPerWorker: 1,
    idleTimeout: IDLE_MS,
    env: entry.pathname.endsWith('.ts') ? UNBUILT : {},
    argv: [],
    execArgv: [],
    resourceLimits: { maxOldGenerationSizeMb: heapMb, ...SMALL },
    recordTiming: false,
  })
  const line = createLine()
  const started = new WeakSet<Worker>()
  /** In the order in which they got their threads. */
  const sitting = new Set<Sitting>()
  let wanted = 0
  let warming = 0
  let closed = false
  let look: NodeJS.Timeout | undefined

  piscina.on('workerCreate', ({ id }: { id: number }) => {
    const thread = piscina.threads.find(({ threadId }) => threadId === id)
    if (thread) started.add(thread)
    pump()
  })
  piscina.on('error', (error: unknown) => {
    wanted = 0
    failStranded(error)
    pump()
  })

  const counts = () => {
    const { threads } = piscina
    const ready = threads.filter((thread) => started.has(thread)).length
    const starting = threads.length - ready
    const old = performance.now() - GROWTH.stuckMs
    let [leaving, waiting, busyLong] = [0, 0, 0]
    for (const { since, give, asked } of sitting) {
      if (asked !== null && asked >= old) leaving += 1
      else if (since === null && give === null) waiting += 1
      else if (since !== null && since < old) busyLong += 1
    }
    // A task that was handed to a thread on its way is not stuck, however long the start takes.
    const stuck = Math.max(0, busyLong - starting)
    return { threads: threads.length, starting, idle: ready - sitting.size, leaving, waiting, stuck }
  }

  /** Hands one task to Piscina, which runs it in an idle thread or else starts one. */
  async function hand({ name, kill, prepare }: PoolTask): Promise<unknown> {
    const stranded = Promise.withResolvers<never>()
    const own: Sitting = { since: performance.now(), give: null, asked: null, fail: stranded.reject }
    const { task, transfer } = prepare({
      crowded: line.length > 0,
      waits(give) {
        own.since = null
        own.give = give
        pump()
        return () => {
          own.since = performance.now()
          own.give = null
        }
      },
    })
    const running = piscina.run(task, { name, signal: kill, transferList: transfer as TransferList })
    sitting.add(own)
    try {
      return await Promise.race([running, stranded.promise])
    } finally {
      sitting.delete(own)
      if (piscina.threads.length === 0) failStranded(new Error('no thread could be started'))
      queueMicrotask(pump)
    }
  }

  async function startAhead(): Promise<void> {
    warming += 1
    try {
      await hand(NOTHING)
    } catch {
      wanted = 0 // why threads cannot start is told to the first task that needs one
    } finally {
      warming -= 1
    }
  }

  /** With no thread left, what Piscina holds would wait for ever. */
  function failStranded(error: unknown): void {
    if (piscina.threads.length > 0) return
    for (const { fail } of sitting) fail(error)
  }

  function pump(): void {
    while (line.length > 0) {
      const { idle, leaving, ...now } = counts()
      if (idle <= 0 && (line.length <= leaving + askForThreads(line.length - leaving) || !mayGrow({ ...now, max }))) break
      line.admit()
    }
    while (piscina.threads.length < wanted && counts().starting < GROWTH.working) void startAhead()
    if (piscina.threads.length >= wanted) wanted = 0
    clearTimeout(look)
    if (line.length > 0 && piscina.threads.length < max) look = setTimeout(pump, GROWTH.stuckMs)
  }

  /** Asks so many tasks that only wait for their threads, those that have had one longest first; gives how many there were. */
  function askForThreads(wished: number): number {
    let asked = 0
    for (const own of sitting) {
      if (asked >= wished) break
      const { give } = own
      if (give === null) continue
      own.give = null
      own.asked = performance.now()
      asked += 1
      give()
    }
    return asked
  }

  return {
    run(task) {
      const answer = line.join(task.kill, () => hand(task), task.urgent)
      pump()
      return answer
    },
    warm(count) {
      if (closed) return
      wanted = Math.min(max, count)
      pump()
    },
    stats() {
      const { threads } = piscina
      return { threads: threads.length, busy: Math.min(sitting.size - warming, threads.length) }
    },
    async close() {
      closed = true
      wanted = 0
      clearTimeout(look)
      await piscina.destroy()
    },
  }
}

/** What a thread is started with when no task is there for it yet. */
const NOTHING: PoolTask = { name: 'ready', prepare: () => ({ task: null, transfer: [] }), kill: new AbortController().signal }
