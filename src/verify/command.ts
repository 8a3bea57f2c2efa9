import { spawn } from 'node:child_process'
import type { ChildProcess, ChildProcessByStdio } from 'node:child_process'
import type { Readable, Writable } from 'node:stream'
import { messageOf } from '../core/errors.ts'
import { passedEnvironment } from '../core/passed-environment.ts'
import { createTail } from './tail.ts'

/** VER-01. Times in ms. */
export const VERIFY_COMMAND = { timeoutMs: 600_000, graceMs: 2_000, drainMs: 500, outputCharacters: 4_000 } as const

/** What a command is given of the environment. Nothing else passes, so no key, token, secret or password does. */
const PASSED = ['PATH', 'HOME', 'LANG', 'TERM', 'TMPDIR']

/**
 * Runs the command given as $0 with stdin closed and both outputs merged. The shell's own stdin is a line to this process: when that goes,
 * by whatever signal, the guard ends the whole group, so that no command outlives who asked for it. The shell itself waits through a
 * SIGTERM, so that the group has one end: the command's.
 */
const GUARDED = `exec 3<&0 </dev/null 2>&1
(trap '' HUP INT TERM; exec >/dev/null; read -r line <&3; kill -KILL 0) &
trap : HUP INT TERM
/bin/sh -c "$0" 3<&-`

type Shell = ChildProcessByStdio<Writable, Readable, null>

export type CommandEnd = {
  /** Whether it exited with 0. */
  readonly ok: boolean
  /** `exit 1`, `timed out after 600 s`. */
  readonly ending: string
  /** The last 4,000 characters of what it wrote to stdout and stderr. */
  readonly output: string
}

/**
 * Runs a shell command in `root` to its end, or to its time limit, in a process group of its own: nothing of that group is alive when this
 * settles. Any way to end is a value; rejects only with the reason of `signal`, once it was aborted.
 */
export async function runCommand(command: string, { root, env, signal, timeoutMs = VERIFY_COMMAND.timeoutMs }: {
  readonly root: string
  readonly env: Readonly<Record<string, string | undefined>>
  readonly signal: AbortSignal
  readonly timeoutMs?: number
}): Promise<CommandEnd> {
  signal.throwIfAborted()
  const child = start(command, root, env)
  if ('problem' in child) return { ok: false, ending: couldNotStart(child.problem), output: '' }
  const tail = createTail(VERIFY_COMMAND.outputCharacters)
  child.stdout.on('data', (bytes: Buffer) => tail.put(bytes))
  // Nothing is ever written to it; its loss is the command's end, which is waited for.
  child.stdin.on('error', () => undefined)
  const closed = new Promise<void>((resolve) => child.stdout.once('close', resolve))
  let timedOut = false
  let kill: NodeJS.Timeout | undefined
  const end = () => {
    endGroup(child, 'SIGTERM')
    kill = setTimeout(() => endGroup(child, 'SIGKILL'), VERIFY_COMMAND.graceMs)
  }
  const limit = setTimeout(() => {
    timedOut = true
    end()
  }, timeoutMs)
  signal.addEventListener('abort', end, { once: true })
  let ending: string
  try {
    ending = await endOf(child)
  } finally {
    signal.removeEventListener('abort', end)
    clearTimeout(limit)
    clearTimeout(kill)
    // What the command left behind in its group, the guard included.
    endGroup(child, 'SIGKILL')
    child.stdin.destroy()
  }
  await drained(closed)
  child.stdout.destroy()
  signal.throwIfAborted()
  if (timedOut) return { ok: false, ending: `timed out after ${timeoutMs / 1000} s`, output: tail.text() }
  return { ok: ending === 'exit 0', ending, output: tail.text() }
}

/** A command that no process can be given (with a NUL in it) is a fault of the setting, not of the run. */
function start(command: string, cwd: string, env: Readonly<Record<string, string | undefined>>): Shell | { readonly problem: unknown } {
  try {
    return spawn('/bin/sh', ['-c', GUARDED, command], { cwd, env: { ...passedEnvironment(env, PASSED), CI: '1' }, detached: true, stdio: ['pipe', 'pipe', 'ignore'] })
  } catch (problem) {
    return { problem }
  }
}

const couldNotStart = (error: unknown): string => `could not be started: ${messageOf(error)}`

function endOf(child: ChildProcess): Promise<string> {
  return new Promise((resolve) => {
    child.once('error', (error) => resolve(couldNotStart(error)))
    child.once('exit', (code, signal) => resolve(signal === null ? `exit ${code}` : `ended by ${signal}`))
  })
}

/** What is left in the pipe; a process that left the group may hold it open for ever. */
async function drained(closed: Promise<void>): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  const timer = setTimeout(resolve, VERIFY_COMMAND.drainMs)
  await Promise.race([closed, promise])
  clearTimeout(timer)
}

function endGroup({ pid }: ChildProcess, signal: 'SIGTERM' | 'SIGKILL'): void {
  if (pid === undefined) return
  try {
    process.kill(-pid, signal)
  } catch (error) {
    // ESRCH: nobody is left in it.
    if (!(error instanceof Error && 'code' in error && error.code === 'ESRCH')) throw error
  }
}
