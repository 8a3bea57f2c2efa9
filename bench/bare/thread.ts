import { once } from 'node:events'
import { join } from 'node:path'
import { Worker } from 'node:worker_threads'

/** A thread with nothing in it: one message there, one back. */
export type BareThread = { roundTrip(message: unknown): Promise<unknown>; close(): Promise<unknown> }

/** Resolves once the thread runs. */
export async function startBareThread(): Promise<BareThread> {
  const worker = new Worker(join(import.meta.dirname, 'echo.mjs'))
  await once(worker, 'message')
  return {
    async roundTrip(message) {
      const { promise, resolve } = Promise.withResolvers<unknown>()
      worker.once('message', resolve)
      worker.postMessage(message)
      return promise
    },
    close: () => worker.terminate(),
  }
}
