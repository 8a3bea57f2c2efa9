import type { MessagePort } from 'node:worker_threads'

import type { Brief, ToolOutcome } from '../src/core/contract.ts'
import { messageOf } from '../src/core/errors.ts'
import { runLoop } from '../src/core/loop.ts'
import type { CallsTask, RunAnswer, RunTask, StopFlag, ThreadHost } from '../src/core/thread.ts'
import type { ReadFunctions } from './local-tools.ts'
import { localTools } from './local-tools.ts'
import { remoteHost, ThreadLent } from './remote-host.ts'

/** What a thread's entry file exports: the pool calls these by name. */
export type ThreadEntry = {
  /** Runs one agent's loop for one stay. Its answer is plain data, also when the loop throws. */
  run(task: RunTask<MessagePort>): Promise<RunAnswer>
  /** Runs read calls of an agent whose loop is on the main thread. */
  calls(task: CallsTask): Promise<readonly ToolOutcome[]>
  /** Does nothing: whoever awaits it knows that the thread has started. */
  ready(): void
}

/**
 * The far side of `src/threads`, over the read tools there are, a way to reach the main side, and what cleans up after an agent. Neither answer
 * is given before the agent's last read has ended: whatever runs in this thread afterwards belongs to the next agent (SHL-08).
 */
export function threadEntry(functions: ReadFunctions, connect: (port: MessagePort) => ThreadHost, tidy: () => void): ThreadEntry {
  /** Held on to for as long as an agent stays: while a tool never settles nothing else might, and Comlink tells the other side of what it collects. */
  const hosts = new Set<ThreadHost>()
  return {
    async run({ brief, reply, port, stop }) {
      const tools = localTools(functions, contextOf(brief, stop))
      const far = port && connect(port)
      if (far) hosts.add(far)
      try {
        return { ok: true, report: await runLoop(brief, remoteHost(far, reply), tools.run) }
      } catch (error) {
        if (error instanceof ThreadLent) return { ok: true, report: null, ...(error.outcomes && { outcomes: error.outcomes }) }
        return { ok: false, error: messageOf(error) }
      } finally {
        await tools.idle()
        if (far) hosts.delete(far)
        port?.close()
        tidy()
      }
    },
    async calls({ brief, calls, stop }) {
      const tools = localTools(functions, contextOf(brief, stop))
      const outcomes = await Promise.all(calls.map(tools.run))
      tidy()
      return outcomes
    },
    ready() {},
  }
}

const contextOf = ({ root, paths, form }: Brief, stop: StopFlag) => ({ root, paths, form, stopped: () => Atomics.load(stop, 0) !== 0 })
