import { availableParallelism } from 'node:os'
import { setTimeout as delay } from 'node:timers/promises'
import { CadreError } from '../core/errors.ts'
import type { ProgramOutcome, ProgramStart, ProgramStep } from '../core/program.ts'
import type { Conversation } from './conversation.ts'
import { converse } from './conversation.ts'
import type { IsolatePool } from './isolate-pool.ts'
import { createIsolatePool, IDLER } from './isolate-pool.ts'
import { createWatch, sliceBounds } from './watch.ts'

/** `programs.heapMb` and `programs.slice` of the settings (SPEC 21), and how many processes there may be. */
export const PROGRAM_DEFAULTS = { heapMb: 128, sliceSeconds: 10, maxProcesses: 64 } as const
/** A process may hold twice the heap of its program (copies of what goes in and out, memory the limit does not count) and its own code. */
const residentMb = (heapMb: number): number => heapMb * 2 + 128
const MS_PER_SECOND = 1000
/** With this many processes one that is being freed, in some ms, is worth waiting for: another costs 100 ms of CPU and 80 MB. */
const ENOUGH = availableParallelism() + 1
/** How long it is waited for, in ms. */
const FREED_MS = 200

/** A program that has begun. After a step of another kind than `calls` it is over. */
export type RunningProgram = {
  /**
   * Hands in outcomes (all or some of the pending calls) and runs on until the program can go no further. `time` (ms since 1970) is what
   * Date.now() shows from here. Rejects with the signal's reason, having closed the program.
   */
  step(outcomes: readonly ProgramOutcome[], time: number, signal: AbortSignal): Promise<ProgramStep>
  /** Frees the isolate; its process is ended if it does not answer. May be called again. */
  close(): Promise<void>
}

export type Programs = {
  /** Runs a program to its first step, in a pooled process (PRG-05). Rejects with ISOLATE_UNAVAILABLE, CRASHED or the signal's reason. */
  begin(start: ProgramStart, signal: AbortSignal): Promise<{ program: RunningProgram; step: ProgramStep }>
  /** Starts processes ahead of need, so that `count` programs find one ready. */
  warm(count: number): void
  stats(): { readonly processes: number; readonly busy: number }
  /** Ends every program and every process. */
  close(): Promise<void>
}

export type ProgramsOptions = { readonly max?: number; readonly heapMb?: number; readonly sliceSeconds?: number }

/** Programs in isolates in child processes: a pool that grows on need up to `max`, and ends what a program breaks (PRG-04, PRG-05). */
export function createPrograms(options: ProgramsOptions = {}): Programs {
  const { max = PROGRAM_DEFAULTS.maxProcesses, heapMb = PROGRAM_DEFAULTS.heapMb, sliceSeconds = PROGRAM_DEFAULTS.sliceSeconds } = options
  const bounds = sliceBounds(residentMb(heapMb), sliceSeconds * MS_PER_SECOND)
  const watch = createWatch()
  const running = new Set<Conversation>()
  /** Those that have come to their end and are giving back their processes, which nobody waits for yet. */
  const ending = new Set<Conversation>()
  let pool: IsolatePool | null = null
  let runs = 0
  let closed = false

  /** Made at the first program: a session without one starts no pool, and needs no isolated-vm. */
  function opened(): IsolatePool {
    if (closed) throw new CadreError('INVARIANT', 'A program was to begin after its programs were closed.')
    return (pool ??= createIsolatePool({ max, heapMb }))
  }

  /** Waits for a process that is about to be free, where there are enough and all have a program. */
  async function freed(): Promise<void> {
    const [soonest] = ending
    if (!soonest || !pool || pool.size() < ENOUGH || pool.size() > running.size) return
    ending.delete(soonest)
    await Promise.race([soonest.ended, delay(FREED_MS, undefined, { ref: false })])
  }

  return {
    async begin(start, signal) {
      await freed()
      signal.throwIfAborted()
      const conversation = converse((runs += 1), start, opened(), watch, bounds)
      running.add(conversation)
      void conversation.ended.then(() => {
        running.delete(conversation)
        ending.delete(conversation)
      })
      const seen = (step: ProgramStep): ProgramStep => {
        if (step.kind !== 'calls' && running.has(conversation)) ending.add(conversation)
        return step
      }
      const step = seen(await conversation.first(signal))
      return { program: { step: async (...next) => seen(await conversation.next(...next)), close: conversation.close }, step }
    },
    warm(count) {
      try {
        for (let i = 0; i < Math.min(count, max); i += 1) opened().run({ kind: 'warm' }, IDLER)
      } catch {
        // Without isolated-vm nothing gets warm; the first program that begins says so, with its name.
      }
    },
    stats: () => ({ processes: pool?.size() ?? 0, busy: running.size }),
    async close() {
      closed = true
      const ends = [...running].map(async (conversation) => {
        await conversation.close()
        await conversation.ended
      })
      await pool?.close()
      await Promise.all(ends)
    },
  }
}
