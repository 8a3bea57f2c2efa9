import { spawn } from 'node:child_process'
import type { Readable, Writable } from 'node:stream'
import { CadreError } from '../core/errors.ts'
import type { Call } from './call.ts'
import { signalled } from './call.ts'
import { exitOf } from './exit-of.ts'
import type { Exit } from './shell-text.ts'

/** File descriptors: what the sandbox says of itself (its first process), and what the command came to. */
const INFO_FD = 3
const STATUS_FD = 4
/** A line to this process, which the kernel cuts when it ends, however it ends. */
const LIFE_FD = 5

/**
 * Runs the command given as $0, says what it came to, and stays as long as another process is alive in the sandbox, which ends with this one
 * (bubblewrap's own, this one, and one that kills all when the host is gone: what bubblewrap asks of the kernel for that comes too late for a host that
 * dies while it starts). It waits through a SIGTERM to its group. A command gets none of the descriptors.
 */
const SHIM = `trap : HUP INT TERM
(trap '' HUP INT TERM; exec >/dev/null 2>&1 ${INFO_FD}>&- ${STATUS_FD}>&-; read -r line <&${LIFE_FD}; kill -KILL -1) &
(exec /bin/sh -c "$0" 2>&1 ${INFO_FD}>&- ${STATUS_FD}>&- ${LIFE_FD}<&-)
echo $? >&${STATUS_FD}
exec >/dev/null 2>&1 ${INFO_FD}>&- ${STATUS_FD}>&- ${LIFE_FD}<&-
while set -- /proc/[0-9]*; [ $# -gt 3 ]; do sleep 1; done`

/** What bubblewrap is to run: the shim with a command. */
export const shimArgv = (command: string): readonly string[] => ['/bin/sh', '-c', SHIM, command]

/** What bubblewrap itself is told besides the policy. */
export const INFO = ['--info-fd', String(INFO_FD)] as const

/**
 * A command in a sandbox of its own, given by all of bubblewrap's arguments, `INFO` and `shimArgv` among them. `ended` rejects with `SHELL` and
 * bubblewrap's words if the sandbox could not be made, with Node's error for what no process can be given.
 */
export function startBubblewrap(program: string, argv: readonly string[], { root, env }: {
  readonly root: string
  readonly env: Readonly<Record<string, string>>
}): Call & { readonly group: null } {
  const child = spawn(program, argv, { cwd: '/', env, detached: true, stdio: ['ignore', 'pipe', 'pipe', 'pipe', 'pipe', 'pipe'] })
  // A pipe each, as just asked for.
  const [, output, errors, info, status, life] = child.stdio as unknown as [null, Readable, Readable, Readable, Readable, Writable]
  // Nothing is ever written to it.
  life.on('error', () => undefined)
  const exited = exitOf(child)
  let gone = false
  const over = exited.then(() => { gone = true }, () => { gone = true })
  const complaint = wholeOf(errors)
  const said = firstOf(status)
  // The sandbox's first process, as this side counts: all die with it, and bubblewrap ends once they have.
  const first = firstOf(info).then((text) => Number(/"child-pid":\s*(\d+)/.exec(text)?.[1] ?? 0))

  async function ending(): Promise<Exit> {
    const code = await said
    if (code !== '') return { kind: 'exit', code: Number(code) }
    await exited
    const words = (await complaint).trim()
    if (!words.startsWith('bwrap: ')) return { kind: 'signal', signal: 'SIGKILL' }
    throw new CadreError('SHELL', `The sandbox of bash could not be made in ${root}: ${words}. Mend that, or set \`sandbox\` to \`off\`.`)
  }

  return {
    output,
    ended: ending(),
    group: null,
    terminate() {
      void first.then((pid) => pid > 0 && !gone && signalled(-pid, 'SIGTERM'))
    },
    async kill() {
      const pid = await first
      if (gone) return
      if (pid > 0) signalled(pid, 'SIGKILL')
      else child.kill('SIGKILL')
      await over
    },
    isLeft: () => !gone,
  }
}

/** The first piece of what comes, and the rest is let go; empty if nothing does. */
function firstOf(stream: Readable): Promise<string> {
  return new Promise((resolve) => {
    stream.once('data', (bytes: Buffer) => resolve(bytes.toString('utf8')))
    stream.once('close', () => resolve(''))
    stream.on('error', () => resolve(''))
  })
}

/** Characters of bubblewrap's words that are kept. */
const COMPLAINT_CHARACTERS = 4_000

/** All that comes, up to a limit. It may come in pieces. */
function wholeOf(stream: Readable): Promise<string> {
  return new Promise((resolve) => {
    let text = ''
    stream.on('data', (bytes: Buffer) => {
      if (text.length < COMPLAINT_CHARACTERS) text += bytes.toString('utf8')
    })
    stream.once('close', () => resolve(text))
    stream.on('error', () => resolve(text))
  })
}
