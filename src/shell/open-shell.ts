import { setImmediate as turn, setTimeout as delay } from 'node:timers/promises'
import { bubblewrapArgv, CONFINED_TMP } from '../../sandbox/shell/bubblewrap.ts'
import type { ShellPolicy } from '../../sandbox/shell/policy.ts'
import { seatbeltArgv } from '../../sandbox/shell/seatbelt.ts'
import { CadreError, messageOf } from '../core/errors.ts'
import { INFO, shimArgv, startBubblewrap } from './bubblewrap-call.ts'
import type { Call } from './call.ts'
import { signalled } from './call.ts'
import { createClip } from './clip.ts'
import { shellEnvironment } from './environment.ts'
import type { Guard } from './guard.ts'
import { startGuard } from './guard.ts'
import { look } from './look.ts'
import { createPlaceholders } from './placeholders.ts'
import { startPlain } from './plain-call.ts'
import type { Probe } from './probe.ts'
import { livingProcesses } from './processes.ts'
import type { Ending, ShellEnd } from './shell-text.ts'

/** Times in ms (SHL-06). */
export const SHELL_TIMES = { graceMs: 2_000, pollMs: 5 } as const

/** What sh itself says of a command that cannot be run. */
const CANNOT_RUN = 126

/** After its shell has exited, what a call wrote is in the pipe, of 64 KiB: this many turns empty it, whoever else goes on writing. */
const DRAIN_TURNS = 32

export type ShellOptions = {
  /** What confines it, with what `probeShell` found; null: nothing does. */
  readonly confined: { readonly policy: ShellPolicy; readonly by: Exclude<Probe, { kind: null }> } | null
  /** The folder each call starts in: absolute. */
  readonly root: string
  readonly env: Readonly<Record<string, string | undefined>>
  /** Names that the setting `shell.env` passes on besides. */
  readonly passed: readonly string[]
  /** An existing folder of this agent alone: absolute. By it its processes are told from all others. */
  readonly tmp: string
}

/** One agent's bash. */
export type Shell = {
  /**
   * Runs a command until its shell exits; what it leaves in the background goes on. A command that cannot be started, too, is a value. After
   * `timeoutMs` the call is ended, background included: SIGTERM, 2 s later SIGKILL. Rejects with the reason of `signal`, once all of the call
   * is ended likewise, and with `SHELL` if the sandbox cannot be made or the shell is closed.
   */
  run(command: string, limits: { readonly timeoutMs: number; readonly signal: AbortSignal }): Promise<ShellEnd>
  /** Ends all the agent's commands started; none of those processes is alive when this settles. Never rejects. */
  close(): Promise<void>
}

/** Opens the shell of an agent; nothing is started before the first command. */
export function openShell({ confined, root, env, passed, tmp }: ShellOptions): Shell {
  const inBubblewrap = confined?.by.kind === 'bubblewrap'
  const environment = shellEnvironment({ env, passed, tmp: inBubblewrap ? CONFINED_TMP : tmp })
  const placeholders = confined ? createPlaceholders(confined.policy) : null
  /** Calls of which something may be alive. */
  const calls = new Set<Call>()
  const groups = new Map<Call, number>()
  let guard: Guard | null = null
  let closing: Promise<void> | null = null

  function start(command: string): Call & { readonly group: number | null } {
    placeholders?.put()
    if (confined && inBubblewrap) {
      const argv = [...INFO, ...bubblewrapArgv(confined.policy, look, shimArgv(command))]
      return startBubblewrap(confined.by.program, argv, { root, env: environment })
    }
    guard ??= startGuard(tmp)
    const wrap = confined ? [confined.by.program, ...seatbeltArgv(confined.policy, look, [])] : []
    const call = startPlain(command, { root, env: environment, wrap })
    if (call.group !== null) groups.set(call, call.group)
    guard.hold([...groups.values()])
    return call
  }

  function forget(): void {
    for (const call of calls) {
      if (call.isLeft()) continue
      calls.delete(call)
      groups.delete(call)
    }
    guard?.hold([...groups.values()])
  }

  async function run(command: string, { timeoutMs, signal }: { readonly timeoutMs: number; readonly signal: AbortSignal }): Promise<ShellEnd> {
    signal.throwIfAborted()
    if (closing) throw new CadreError('SHELL', `The shell of the agent in ${root} is closed: no command can be run in it any more.`)
    let call: ReturnType<typeof start>
    try {
      call = start(command)
    } catch (error) {
      if (error instanceof CadreError) throw error
      return couldNotStart(error)
    }
    calls.add(call)
    const clip = createClip()
    const put = (bytes: Buffer): void => clip.put(bytes)
    call.output.on('data', put)
    let ending: Ending
    try {
      ending = await limited(call, timeoutMs, signal)
    } catch (error) {
      if (error instanceof CadreError || signal.aborted) throw error
      return couldNotStart(error)
    } finally {
      await drained(call)
      // Whatever goes on writing must not wait for a reader.
      call.output.off('data', put).resume()
      forget()
    }
    return { text: clip.end(), ending }
  }

  async function end(): Promise<void> {
    await Promise.all([...calls].map((call) => call.kill().catch(() => undefined)))
    if (!inBubblewrap) await ended([...groups.values()], tmp)
    await guard?.close()
    placeholders?.remove()
  }

  return {
    run,
    close() {
      closing ??= end()
      return closing
    },
  }
}

async function limited(call: Call, timeoutMs: number, signal: AbortSignal): Promise<Ending> {
  let timedOut = false
  let kill: NodeJS.Timeout | undefined
  const stop = (): void => {
    call.terminate()
    kill ??= setTimeout(() => void call.kill().catch(() => undefined), SHELL_TIMES.graceMs)
  }
  const limit = setTimeout(() => {
    timedOut = true
    stop()
  }, timeoutMs)
  signal.addEventListener('abort', stop, { once: true })
  let ending: Ending
  try {
    ending = await call.ended
  } finally {
    clearTimeout(limit)
    clearTimeout(kill)
    signal.removeEventListener('abort', stop)
    // Without a call there is nobody left who would end it.
    if (timedOut || signal.aborted) await call.kill().catch(() => undefined)
  }
  signal.throwIfAborted()
  return timedOut ? { kind: 'timeout', timeoutMs } : ending
}

/** Until what is in the pipe now has been read; a process in the background may hold it open, and write to it, for ever. */
async function drained({ output }: Call): Promise<void> {
  let more = true
  const note = (): void => { more = true }
  output.on('data', note)
  for (let i = 0; i < DRAIN_TURNS && more && !output.readableEnded; i += 1) {
    more = false
    await turn()
    await turn()
  }
  output.off('data', note)
}

async function ended(groups: readonly number[], tmp: string): Promise<void> {
  for (;;) {
    const living = livingProcesses(groups, tmp)
    if (living.length === 0) return
    for (const pid of living) signalled(pid, 'SIGKILL')
    await delay(SHELL_TIMES.pollMs)
  }
}

const couldNotStart = (error: unknown): ShellEnd => ({ text: `could not be started: ${messageOf(error)}`, ending: { kind: 'exit', code: CANNOT_RUN } })
