import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'

export type BenchRun = { readonly pid: number; readonly code: number | null; readonly stdout: string; readonly stderr: string }

/** `npm run bench -- …`, to its end. */
export async function runBench(...args: readonly string[]): Promise<BenchRun> {
  const main = join(import.meta.dirname, '..', '..', 'bench', 'main.ts')
  const child = spawn(process.execPath, [main, ...args], { stdio: ['ignore', 'pipe', 'pipe'] })
  const [[code], stdout, stderr] = await Promise.all([once(child, 'close') as Promise<[number | null]>, text(child.stdout), text(child.stderr)])
  return { pid: child.pid ?? 0, code, stdout, stderr }
}
