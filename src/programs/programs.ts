import { CadreError } from '../core/errors.ts'
import type { ProgramOutcome, ProgramStart, ProgramStep } from '../core/program.ts'
import type { Conversation } from './conversation.ts'
import { converse } from './conversation.ts'
import type { IsolatePool } from './isolate-pool.ts'
import { createIsolatePool, IDLER } from './isolate-pool.ts'
import { createTurns } from './turns.ts'
import type { Turn } from './turns.ts'
import { createWatch, sliceBounds } from './watch.ts'

/** `programs.heapMb` and `programs.slice` of the settings (SPEC 21), and how many processes there may be. */
export const PROGRAM_DEFAULTS = { heapMb: 128, sliceSeconds: 10, maxProcesses: 64 } as const
/** A process may hold twice the heap of its program (copies of what goes in and out, memory the limit does not count) and its own code. */
const residentMb = (heapMb: number): number => heapMb * 2 + 128
const MS_PER_SECOND = 1000

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
  /** Runs a program to its first step, in a pooled process (PRG-05), in order of arrival. Rejects with ISOLATE_UNAVAILABLE, CRASHED or the signal's reason. */
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
  const turns = createTurns()
  const running = new Set<Conversation>()
  let pool: IsolatePool | null = null
  let runs = 0
  let closed = false

  /** Made at the first program: a session without one starts no pool, and needs no isolated-vm. */
  function opened(): IsolatePool {
    if (closed) throw new CadreError('INVARIANT', 'A program was to begin after its programs were closed.')
    return (pool ??= createIsolatePool({ max, heapMb }))
  }

  function conversing(start: ProgramStart, turn: Turn): Conversation {
    try {
      const own = opened()
      const run: IsolatePool['run'] = (task, client) => own.run(task, {
        ...client,
        started(isolate) {
          turn.began()
          client.started(isolate)
        },
      })
      return converse((runs += 1), start, { ...own, run }, watch, bounds)
    } catch (error) {
      turn.leave()
      throw error
    }
  }

  return {
    async begin(start, signal) {
      const turn = await turns.enter(signal)
      const conversation = conversing(start, turn)
      running.add(conversation)
      void conversation.ended.then(() => {
        running.delete(conversation)
        turn.leave()
      })
      const step = await conversation.first(signal)
      return { program: { step: conversation.next, close: conversation.close }, step }
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
