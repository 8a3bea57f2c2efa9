import { spawn } from 'node:child_process'
import type { ChildProcessByStdio } from 'node:child_process'
import type { Readable } from 'node:stream'

/** A process of the bench, its output to be read; `end` kills it at once with all that it started. */
export type ProcessGroup = { readonly child: ChildProcessByStdio<null, Readable, Readable>; end(): void }

/** By their first process. */
const alive = new Set<number>()

// Registered with the import, so before the bench's folders are removed at its own exit: nothing may write into them then.
process.on('exit', () => {
  for (const pid of alive) kill(pid)
})

type Options = { readonly cwd: string; readonly env?: Readonly<Record<string, string>> }

/**
 * Starts a process in a group of its own, which ends with this process too; a terminal's Ctrl-C does not reach it. Call `end` also when it has
 * ended by itself: what it started may live on.
 */
export function startGroup(file: string, argv: readonly string[], options: Options): ProcessGroup {
  const child = spawn(file, argv, { ...options, stdio: ['ignore', 'pipe', 'pipe'], detached: true })
  const { pid } = child
  if (pid !== undefined) alive.add(pid)
  return {
    child,
    end() {
      if (pid !== undefined && alive.delete(pid)) kill(pid)
    },
  }
}

function kill(group: number): void {
  try {
    process.kill(-group, 'SIGKILL')
  } catch {
    // Nobody of it is left.
  }
}
