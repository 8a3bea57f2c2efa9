import type { ChildProcess } from 'node:child_process'
import type { Exit } from './shell-text.ts'

/** How a child process ends. Rejects with Node's error for one that could not be started. */
export function exitOf(child: ChildProcess): Promise<Exit> {
  return new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('exit', (code, signal) => resolve(signal === null ? { kind: 'exit', code: code ?? 0 } : { kind: 'signal', signal }))
  })
}
