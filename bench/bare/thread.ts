import { once } from 'node:events'
import { join } from 'node:path'
import { Worker } from 'node:worker_threads'

/** A thread with nothing in it but one answer to each message. */
export type BareThread = { roundTrip(message: unknown): Promise<unknown>; close(): Promise<unknown> }

/** `echo`: it answers what came; `read`: the text of the file that came. Resolves once the thread runs. */
export async function startBareThread(answers: 'echo' | 'read'): Promise<BareThread> {
  const worker = new Worker(join(import.meta.dirname, `${answers}.mjs`))
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
