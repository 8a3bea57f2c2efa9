import { readFileSync } from 'node:fs'
import { onTestFinished } from 'vitest'

/** Until a killed process is gone, on a busy machine. */
export const PATIENCE_MS = 20_000

/** Whether processes still run; one whose parent has not yet asked how it ended does not. At the end of the test none does. */
export function living(pids: readonly number[]): () => readonly number[] {
  onTestFinished(() => {
    for (const pid of running(pids)) process.kill(pid, 'SIGKILL')
  })
  return () => running(pids)
}

const running = (pids: readonly number[]): readonly number[] => pids.filter((pid) => {
  try {
    process.kill(pid, 0)
    return process.platform !== 'linux' || !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'))
  } catch {
    return false
  }
})
