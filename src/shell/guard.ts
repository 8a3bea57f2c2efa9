import { spawn } from 'node:child_process'
import { exitOf } from './exit-of.ts'

/**
 * Reads lines of process groups, each in place of the last, and kills those of the last when the line is cut, by whatever end of the host; on
 * Linux also all with the `TMPDIR` given as $0. Twice: one may have forked meanwhile.
 */
const GUARD = `trap '' HUP INT TERM
while read -r line; do groups=$line; done
for round in 1 2; do
  [ -z "$groups" ] || kill -KILL $groups
  for at in $(grep -lazxF "TMPDIR=$0" /proc/[0-9]*/environ); do
    at=\${at#/proc/}
    kill -KILL "\${at%/environ}"
  done
done`

/** A process that ends what an unconfined shell started when this process is gone (SHL-06). */
export type Guard = {
  /** All that are to die with this process. */
  hold(groups: readonly number[]): void
  /** Ends it, and what it held. */
  close(): Promise<void>
}

export function startGuard(tmp: string): Guard {
  // Without TMPDIR: it must not find itself.
  const child = spawn('/bin/sh', ['-c', GUARD, tmp], { cwd: '/', env: { PATH: '/usr/bin:/bin' }, detached: true, stdio: ['pipe', 'ignore', 'ignore'] })
  const exited = exitOf(child).catch(() => undefined)
  // It may have been killed by what it guards; then nothing can be told any more.
  child.stdin.on('error', () => undefined)
  return {
    hold: (groups) => void child.stdin.write(`${groups.map((group) => `-${group}`).join(' ')}\n`),
    async close() {
      child.stdin.end()
      await exited
    },
  }
}
