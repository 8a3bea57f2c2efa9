import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'

import { onTestFinished } from 'vitest'

const APPENDER = join(import.meta.dirname, 'fixtures', 'appender.ts')

/** Another process that appends to the same file (see fixtures/appender.ts). Gone when the test is over. */
export function startAppender(
  args: readonly (string | number)[],
  { shellLimit, heapMb }: { readonly shellLimit?: string; readonly heapMb?: number } = {},
) {
  const argv = [process.execPath, ...(heapMb === undefined ? [] : [`--max-old-space-size=${heapMb}`]), APPENDER, ...args.map(String)]
  const [command = '', ...rest] = shellLimit ? ['sh', '-c', `${shellLimit}; exec "$@"`, 'sh', ...argv] : argv
  const child = spawn(command, rest, { stdio: ['ignore', 'pipe', 'inherit'] })
  const lines: string[] = []
  const closed = once(child, 'close')
  const reader = createInterface({ input: child.stdout })
  reader.on('line', (line) => lines.push(line))
  onTestFinished(() => void child.kill('SIGKILL'))
  return {
    pid: child.pid,
    lines,
    /** Waits until it has said so many lines. */
    async said(count: number): Promise<void> {
      const ended = closed.then(() => { throw new Error(`it ended after: ${lines.join(' | ')}`) })
      while (lines.length < count) await Promise.race([once(reader, 'line'), ended])
    },
    async ended(): Promise<readonly string[]> {
      await closed
      return lines
    },
    async killed(): Promise<readonly string[]> {
      child.kill('SIGKILL')
      await closed
      return lines
    },
  }
}
