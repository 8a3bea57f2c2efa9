import type { ChildProcess } from 'node:child_process'
import { Tinypool } from 'tinypool'
import { CadreError } from '../core/errors.ts'
import type { ProgramRequest, ProgramTask } from '../core/program-wire.ts'
import { lockdown } from './lockdown.ts'
import { processOf } from './process-of.ts'

/** Idle processes end after this. */
const IDLE_MS = 30_000
/** A process that cannot start is tried again this often in a row, then what waits for it fails. */
const MAX_FAILED_STARTS = 3
const STDERR_CHARS = 2_000

/** A process that has taken a task: what to say to it, and how to end it. */
export type IsolateProcess = { readonly pid: number; send(request: ProgramRequest): void; kill(): void }

/** Who hands a task to the pool and is told what becomes of it. What is `received` comes from the process, unchecked. */
export type IsolateClient = {
  started(isolate: IsolateProcess): void
  received(message: unknown): void
  /** The task is over: the process is free again, or has ended. Before `started`: none could be had. */
  ended(error: Error | null): void
}

export type IsolatePool = {
  /** Hands a task to an idle process, a new one, or, at `max`, the next that is free. Returns what takes it back while it waits. */
  run(task: ProgramTask, client: IsolateClient): () => void
  size(): number
  close(): Promise<void>
}

/** Locked-down child processes under Tinypool, one task at a time in each. Throws ISOLATE_UNAVAILABLE when they cannot exist. */
export function createIsolatePool(options: { readonly max: number; readonly heapMb: number }): IsolatePool {
  const { filename, execArgv, env, isolatedVm } = lockdown()
  const pool = new Tinypool({
    filename, execArgv, env, name: 'serve', runtime: 'child_process', argv: [isolatedVm, String(options.heapMb)],
    minThreads: 0, maxThreads: options.max, idleTimeout: IDLE_MS, useAtomics: false,
  })
  const silenced = new WeakSet<ChildProcess>()
  /** Tasks that no process has taken yet, each with what takes it out of the queue. */
  const waiting = new Map<IsolateClient, (reason: Error | null) => void>()
  let failedStarts = 0
  let lastWords = ''

  // A process that ended with no task in hand: an idle one, or one that could not start. Only the latter leaves someone waiting for ever.
  pool.on('error', () => {
    if (waiting.size === 0) return
    failedStarts += 1
    if (failedStarts < MAX_FAILED_STARTS) return void run({ kind: 'warm' }, IDLER)
    const why = /^\S*Error\b.*$/m.exec(lastWords)?.[0]
    const error = new Error(`an isolate process could not start${why ? ` (${why})` : ''}`)
    failedStarts = 0
    lastWords = ''
    for (const withdraw of waiting.values()) withdraw(error)
  })

  /** Tinypool pipes a process's output into ours. V8's last words are no output of ours: keep only what may explain a failed start. */
  function silence(): void {
    for (const worker of pool.threads) {
      const child = processOf(worker)
      if (silenced.has(child)) continue
      silenced.add(child)
      for (const stream of [child.stdout, child.stderr]) stream?.unpipe().resume()
      child.stderr?.on('data', (chunk: Buffer) => { lastWords = (lastWords + chunk.toString()).slice(-STDERR_CHARS) })
    }
  }

  function run(task: ProgramTask, client: IsolateClient): () => void {
    const queued = new AbortController()
    let reason: Error | null = null
    /** The process was killed for what ran in it before, in the moment it was free again: this task has not begun, and goes to another one. */
    let stillborn = false
    const withdraw = (why: Error | null) => {
      reason = why
      queued.abort()
    }
    const channel = {
      onMessage(send: (request: ProgramRequest) => void) {
        waiting.delete(client)
        failedStarts = 0
        const child = processOf(pool.threads.find((worker) => Reflect.get(worker, 'channel') === channel))
        const { pid } = child
        if (pid === undefined) throw new CadreError('INVARIANT', 'Tinypool handed a program to a process that never started.')
        stillborn = child.killed
        if (stillborn) return void waiting.set(client, withdraw)
        client.started({ pid, send, kill: () => { child.kill('SIGKILL') } })
      },
      postMessage: (message: unknown) => { if (!stillborn) client.received(message) },
    }
    const over = (error: Error | null) => {
      waiting.delete(client)
      if (stillborn && reason === null) return void run(task, client)
      // Tinypool starts no process for what already waits when one dies: something new in its queue makes it.
      if (error !== null && reason === null && waiting.size > 0) run({ kind: 'warm' }, IDLER)
      client.ended(reason ?? error)
    }
    waiting.set(client, withdraw)
    pool.run(task, { channel, signal: queued.signal }).then(
      () => over(null),
      (error: unknown) => over(error instanceof Error ? error : new Error(String(error))),
    )
    silence()
    return () => waiting.get(client)?.(null)
  }

  return {
    run,
    size: () => pool.threads.length,
    async close() {
      const children = pool.threads.map(processOf)
      const gone = pool.destroy()
      for (const child of children) child.kill('SIGKILL')
      await gone
    },
  }
}

/** Whoever only wants a process to be there. */
export const IDLER: IsolateClient = { started: () => undefined, received: () => undefined, ended: () => undefined }
