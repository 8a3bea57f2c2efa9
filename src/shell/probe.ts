import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { BASE } from '../../sandbox/shell/bubblewrap.ts'
import { messageOf } from '../core/errors.ts'

/** What can confine a shell here; `program` is an absolute path, never found by PATH, which a project may set. Or why nothing can. */
export type Probe =
  | { readonly kind: 'bubblewrap' | 'seatbelt'; readonly program: string }
  | { readonly kind: null; readonly reason: string }

const BUBBLEWRAP = ['/usr/bin/bwrap', '/bin/bwrap', '/usr/local/bin/bwrap', '/run/current-system/sw/bin/bwrap']
const SEATBELT = '/usr/bin/sandbox-exec'
const PATIENCE_MS = 10_000

const RESTRICTED = 'This system keeps user namespaces from programs (Ubuntu: an AppArmor profile for bwrap allows them; in a container they need its consent)'

/** Whether bash can be confined here: tried once for a process, by running `true`. Never rejects. */
export function probeShell(): Promise<Probe> {
  known ??= probe()
  return known
}

let known: Promise<Probe> | undefined

async function probe(): Promise<Probe> {
  if (process.platform === 'linux') {
    const program = BUBBLEWRAP.find((path) => existsSync(path))
    if (program === undefined) return { kind: null, reason: 'bubblewrap is not installed: install the package `bubblewrap`' }
    const problem = await failureOf(program, [...BASE, '--unshare-net', '--', '/bin/sh', '-c', ':'])
    return problem === null ? { kind: 'bubblewrap', program } : { kind: null, reason: `bubblewrap does not work here: ${problem}. ${RESTRICTED}` }
  }
  if (process.platform === 'darwin') {
    const problem = await failureOf(SEATBELT, ['-p', '(version 1)(allow default)', '/bin/sh', '-c', ':'])
    return problem === null ? { kind: 'seatbelt', program: SEATBELT } : { kind: null, reason: `Seatbelt does not work here: ${problem}` }
  }
  return { kind: null, reason: `there is no sandbox for bash on ${process.platform}` }
}

function failureOf(program: string, args: readonly string[]): Promise<string | null> {
  return new Promise((resolve) => {
    execFile(program, args, { timeout: PATIENCE_MS, killSignal: 'SIGKILL' }, (error, _out, words) => {
      resolve(error === null ? null : (words.trim().split('\n')[0] || messageOf(error)))
    })
  })
}
