import type { Readable } from 'node:stream'
import type { Exit } from './shell-text.ts'

/** One command that was started, and all that came of it. */
export type Call = {
  /** Stdout and stderr, in the order they were written. */
  readonly output: Readable
  /** Settles when its shell has exited, whatever goes on in the background. Rejects with `SHELL` if it never ran. */
  readonly ended: Promise<Exit>
  /** SIGTERM to its process group. */
  terminate(): void
  /** SIGKILL to all of it that can be named. With bubblewrap that is all, and none of it is alive when this settles. */
  kill(): Promise<void>
  /** Whether something of it may go on once its shell has exited. */
  isLeft(): boolean
}

/** Signals a process (or a group, negative); whether there was one. */
export function signalled(pid: number, signal: NodeJS.Signals | 0): boolean {
  try {
    process.kill(pid, signal)
    return true
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ESRCH') return false
    // On macOS a group of zombies only; nowhere one of ours.
    if (error instanceof Error && 'code' in error && error.code === 'EPERM') return false
    throw error
  }
}
