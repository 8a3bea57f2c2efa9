import { CadreError } from '../core/errors.ts'
import type { ProgramLimit, ProgramOutcome, ProgramStart, ProgramStep } from '../core/program.ts'
import type { IsolatePool, IsolateProcess } from './isolate-pool.ts'
import { isolateUnavailable } from './lockdown.ts'
import { parseAnswer, parseStep } from './parse-step.ts'
import type { Bounds, Watch } from './watch.ts'

/** After its last step a process frees the isolate; one that takes longer is ended, and nobody notices. */
const FREE_MS = 5_000

/** One program on its way through one process. `ended` settles when the process is free again or gone; it never rejects. */
export type Conversation = {
  first(signal: AbortSignal): Promise<ProgramStep>
  next(outcomes: readonly ProgramOutcome[], time: number, signal: AbortSignal): Promise<ProgramStep>
  close(): Promise<void>
  readonly ended: Promise<void>
}

/** Where a program is: in the queue, in a slice, waiting for outcomes, giving back its process, or gone. */
type Phase = 'queued' | 'slice' | 'waiting' | 'ending' | 'ended'

type Slice = { readonly resolve: (step: ProgramStep) => void; readonly reject: (error: Error) => void }

/**
 * Starts a program. Whatever its process does (answers, lies, hangs, floods, dies) ends the slice in hand with one step, and takes the
 * process with it unless the program came to an ordinary end.
 */
export function converse(run: number, start: ProgramStart, pool: IsolatePool, watch: Watch, bounds: Bounds): Conversation {
  let phase: Phase = 'queued'
  let isolate: IsolateProcess | null = null
  let slice: Slice | null = null
  let unwatch: () => void = () => undefined
  let broken: ProgramLimit = 'process ended'
  let finished = false
  const over = Promise.withResolvers<void>()

  function end(limit: ProgramLimit): void {
    broken = limit
    isolate?.kill()
  }

  function settle(settled: (slice: Slice) => void): void {
    const current = slice
    slice = null
    if (current) settled(current)
  }

  function enter(next: Phase, within: Bounds | null): void {
    unwatch()
    phase = next
    unwatch = within && isolate ? watch.over(isolate.pid, within, end) : () => undefined
  }

  function receive(message: unknown): void {
    const answer = parseAnswer(message)
    if (phase !== 'slice' || answer?.run !== run) return end('process ended')
    if ('unavailable' in answer) {
      enter('ending', { ...bounds, wallMs: FREE_MS })
      return settle(({ reject }) => reject(isolateUnavailable(new Error(answer.unavailable))))
    }
    const step = parseStep(answer.body, start.tools)
    if (step === null) return end('process ended')
    finished = step.kind !== 'calls'
    if (finished) enter('ending', { ...bounds, wallMs: FREE_MS })
    else enter('waiting', null)
    settle(({ resolve }) => resolve(step))
  }

  const unqueue = pool.run({ kind: 'run', run, start }, {
    started(process) {
      isolate = process
      enter('slice', bounds)
    },
    received: receive,
    ended(error) {
      enter('ended', null)
      settle(({ resolve, reject }) => {
        if (isolate) return resolve({ kind: 'limit', limit: broken, log: '' })
        const why = error?.message ?? 'its process ended'
        reject(new CadreError('CRASHED', `The program of ${start.file} did not run: ${why}.`, { cause: error }))
      })
      over.resolve()
    },
  })

  async function close(): Promise<void> {
    switch (phase) {
      case 'queued':
        unqueue()
        break
      case 'slice':
        isolate?.kill()
        break
      case 'waiting':
        isolate?.send({ kind: 'close', run })
        enter('ending', { ...bounds, wallMs: FREE_MS })
        break
      case 'ending':
      case 'ended':
        return // the process frees the isolate by itself, and nobody need wait for that
    }
    await over.promise
  }

  async function slicing(signal: AbortSignal): Promise<ProgramStep> {
    const { promise, resolve, reject } = Promise.withResolvers<ProgramStep>()
    slice = { resolve, reject }
    const stop = () => {
      settle((current) => current.reject(reasonOf(signal)))
      void close()
    }
    if (signal.aborted) stop()
    else signal.addEventListener('abort', stop, { once: true })
    try {
      return await promise
    } finally {
      signal.removeEventListener('abort', stop)
    }
  }

  return {
    first: slicing,
    next(outcomes, time, signal) {
      if (phase === 'ended' && isolate && !finished) return Promise.resolve({ kind: 'limit', limit: broken, log: '' })
      if (phase !== 'waiting' || !isolate) throw new CadreError('INVARIANT', `The program of ${start.file} waits for no outcomes.`)
      enter('slice', bounds)
      isolate.send({ kind: 'resume', run, outcomes, time })
      return slicing(signal)
    },
    close,
    ended: over.promise,
  }
}

const reasonOf = ({ reason }: AbortSignal): Error => (reason instanceof Error ? reason : new CadreError('STOPPED', String(reason)))
