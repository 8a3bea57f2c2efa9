import { spawn } from 'node:child_process'
import type { Call } from './call.ts'
import { signalled } from './call.ts'
import { exitOf } from './exit-of.ts'

const MERGED = 'exec /bin/sh -c "$0" 2>&1'

/**
 * A command in a process group of its own. `wrap` is put before its argv: the sandbox of macOS, say. Throws, or rejects, with Node's error for
 * what no process can be given: a NUL, over 128 KiB, a root that is gone.
 */
export function startPlain(command: string, { root, env, wrap }: {
  readonly root: string
  readonly env: Readonly<Record<string, string>>
  readonly wrap: readonly string[]
}): Call & { readonly group: number | null } {
  const [program = '', ...args] = wrap.concat('/bin/sh', '-c', MERGED, command)
  const child = spawn(program, args, { cwd: root, env, detached: true, stdio: ['ignore', 'pipe', 'ignore'] })
  const group = child.pid ?? null
  const ended = exitOf(child)
  return {
    output: child.stdout,
    ended,
    group,
    terminate: () => void (group !== null && signalled(-group, 'SIGTERM')),
    async kill() {
      if (group === null) return
      signalled(-group, 'SIGKILL')
      await ended
    },
    isLeft: () => group !== null && signalled(-group, 0),
  }
}
