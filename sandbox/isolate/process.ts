/** The entry of an isolate process: boot, take one program after another, answer. Started by Tinypool, watched and ended from outside. */
import type { ProgramAnswer, ProgramRequest, ProgramTask } from '../../src/core/program-wire.ts'
import { messageOf } from '../../src/core/errors.ts'
import { openIsolates } from './isolate.ts'

const BYTES_PER_MB = 1024 * 1024
const [, , isolatedVm = '', heap] = process.argv
const heapMb = Number(heap)
/** Above this the memory a program left behind would count against the next one. */
const bloatedBytes = (heapMb + 100) * BYTES_PER_MB

const opened = open()

let receive: (request: ProgramRequest) => void = () => undefined
// Everything that comes over this channel was written by our own main side; Tinypool's own messages carry its mark.
process.on('message', (message: ProgramRequest | { readonly __tinypool_worker_message__: true }) => {
  if ('kind' in message) receive(message)
})
// The main side is gone. `process.exit` can wait for a thread that never ends.
process.on('disconnect', die)

/** Runs one task to its end. When this resolves, the isolate is gone and the process is ready for the next program. */
export async function serve(task: ProgramTask): Promise<void> {
  if (task.kind === 'warm') return
  const { run, start } = task
  if ('unavailable' in opened) return answer({ run, unavailable: opened.unavailable })

  const guest = opened.isolates.open(start)
  let progress = await guest.begin()
  while (!progress.over) {
    const request = nextRequest()
    await answer({ run, body: progress.body })
    const received = await request
    if (received.kind === 'close') break
    progress = await guest.resume(received.outcomes, received.time)
  }
  if (progress.over) await answer({ run, body: progress.body })
  if (!progress.healthy) die()
  guest.dispose()
  if (process.memoryUsage.rss() > bloatedBytes) die()
  opened.isolates.prepare()
}

function open(): { readonly isolates: ReturnType<typeof openIsolates> } | { readonly unavailable: string } {
  try {
    const isolates = openIsolates(isolatedVm, heapMb)
    isolates.prepare()
    return { isolates }
  } catch (error) {
    return { unavailable: messageOf(error) }
  }
}

const nextRequest = (): Promise<ProgramRequest> => new Promise((resolve) => { receive = resolve })

/** Resolves once the answer is with the operating system. */
const answer = (message: ProgramAnswer): Promise<void> => new Promise((resolve) => { process.send?.(message, () => resolve()) })

function die(): void {
  process.kill(process.pid, 'SIGKILL')
}
