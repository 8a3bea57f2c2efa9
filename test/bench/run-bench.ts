import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { globSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'

const ROOT = join(import.meta.dirname, '..', '..')

export type BenchRun = { readonly pid: number; readonly code: number | null; readonly stdout: string; readonly stderr: string }

/** `npm run bench -- …`, to its end; `during` sees the process while it runs. */
export async function runBench(args: readonly string[], during: (child: ChildProcess) => unknown = () => undefined): Promise<BenchRun> {
  const child = spawn(process.execPath, [join(ROOT, 'bench', 'main.ts'), ...args], { stdio: ['ignore', 'pipe', 'pipe'] })
  const end = Promise.all([once(child, 'close') as Promise<[number | null]>, text(child.stdout), text(child.stderr)])
  await during(child)
  const [[code], stdout, stderr] = await end
  return { pid: child.pid ?? 0, code, stdout, stderr }
}

/** Folders of a bench, by its process. */
export const foldersOf = (pid: number | undefined): readonly string[] =>
  [join(ROOT, 'node_modules', '.cache'), tmpdir()].flatMap((cwd) => globSync(`cadre-bench-${pid}-*`, { cwd }))
