import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'

/** Output kept of each stream, and how long a process group has between SIGTERM and SIGKILL, and pipes held open elsewhere to go quiet. */
const RUN_LIMITS = { outputChars: 100_000, killAfterMs: 2_000, drainMs: 200 }

export type CommandRun = {
  readonly command: string
  /** What the command reads. */
  readonly input: string
  readonly cwd: string
  readonly env: Readonly<Record<string, string>>
  readonly timeoutMs: number
}

/** `code` null: a signal ended it, or it never started. `ended`: why it was ended from here, or the error of a start that failed. */
export type CommandEnd = { readonly code: number | null; readonly stdout: string; readonly stderr: string; readonly ended: 'timeout' | 'stopped' | { readonly error: string } | null }

/**
 * Runs a shell command in a process group of its own and resolves when it has ended; never rejects. On timeout or abort the group gets SIGTERM
 * and 2 s later SIGKILL; what it left running in its group is ended with it.
 */
export async function runCommand({ command, input, cwd, env, timeoutMs }: CommandRun, signal: AbortSignal): Promise<CommandEnd> {
  if (signal.aborted) return { code: null, stdout: '', stderr: '', ended: 'stopped' }
  const child = spawn('/bin/sh', ['-c', command], { cwd, env: { ...env }, detached: true, stdio: ['pipe', 'pipe', 'pipe'] })
  const output = { stdout: '', stderr: '' }
  for (const name of ['stdout', 'stderr'] as const) {
    child[name].setEncoding('utf8')
    child[name].on('data', (text: string) => {
      output[name] = (output[name] + text).slice(0, RUN_LIMITS.outputChars)
    })
  }
  child.stdin.on('error', () => {}) // a command may end without reading what it is given
  child.stdin.end(input)

  let ended: CommandEnd['ended'] = null
  let forced: NodeJS.Timeout | undefined
  const end = (why: 'timeout' | 'stopped'): void => {
    if (ended !== null) return
    ended = why
    signalGroup(child, 'SIGTERM')
    forced = setTimeout(signalGroup, RUN_LIMITS.killAfterMs, child, 'SIGKILL')
  }
  const timer = setTimeout(end, timeoutMs, 'timeout')
  const stop = (): void => end('stopped')
  signal.addEventListener('abort', stop, { once: true })
  try {
    const code = await exitOf(child)
    return { code, ...output, ended }
  } catch (error) {
    return { code: null, ...output, ended: { error: error instanceof Error ? error.message : String(error) } }
  } finally {
    clearTimeout(timer)
    clearTimeout(forced)
    signal.removeEventListener('abort', stop)
  }
}

/** Resolves with the exit code once the output is complete. A process that left the group may hold the pipes: then not all is waited for. */
function exitOf(child: ChildProcess): Promise<number | null> {
  const { promise, resolve, reject } = Promise.withResolvers<number | null>()
  child.once('error', reject)
  child.once('exit', (code) => {
    signalGroup(child, 'SIGKILL')
    const drained = setTimeout(() => {
      child.stdout?.destroy()
      child.stderr?.destroy()
      resolve(code)
    }, RUN_LIMITS.drainMs)
    child.once('close', () => {
      clearTimeout(drained)
      resolve(code)
    })
  })
  return promise
}

function signalGroup({ pid }: ChildProcess, signal: NodeJS.Signals): void {
  if (pid === undefined) return
  try {
    process.kill(-pid, signal)
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && (error.code === 'ESRCH' || error.code === 'EPERM'))) throw error // nobody is left in it
  }
}
