import type { ShellPolicy } from './policy.ts'
import type { Look, ResolvedRule } from './resolve-rules.ts'
import { resolveRules } from './resolve-rules.ts'

/** Where the private temp folder is to a confined shell. */
export const CONFINED_TMP = '/tmp'

const NAMES = '/etc/resolv.conf'

/**
 * Its own user, pids, mounts, IPC, host name and session; no capability, whoever starts it; dies with who started it. Everything readable,
 * nothing writable; `/dev` and `/proc` of its own.
 */
export const BASE = [
  '--unshare-user', '--unshare-pid', '--unshare-ipc', '--unshare-uts', '--unshare-cgroup-try', '--cap-drop', 'ALL', '--new-session', '--die-with-parent',
  '--ro-bind', '/', '/', '--dev', '/dev', '--proc', '/proc',
] as const

/**
 * The arguments of bubblewrap (0.6 or later) that run `argv` under a policy (SHL-01…03). `look` is asked what is there now: what is not there
 * must have got its placeholder. Throws `SHELL` for a link that cannot be protected.
 */
export function bubblewrapArgv(policy: ShellPolicy, look: Look, argv: readonly string[]): readonly string[] {
  const rules = resolveRules(policy, look).filter(({ folder }) => folder !== null)
  return [
    ...BASE,
    ...(policy.network ? [] : ['--unshare-net']),
    '--bind', policy.tmp, CONFINED_TMP,
    ...rules.flatMap(mount),
    // With the network come the names of its hosts, wherever they are kept.
    ...(policy.network ? namesOf(look) : []),
    // Only now, with what other rules put into them.
    ...rules.filter(isEmptied).flatMap(({ path }) => ['--remount-ro', path]),
    '--chdir', policy.root,
    '--', ...argv,
  ]
}

const isEmptied = ({ access, folder }: ResolvedRule): boolean => access === 'none' && folder === true

function mount({ path, access, folder }: ResolvedRule): readonly string[] {
  switch (access) {
    case 'none': return folder === true ? ['--tmpfs', path] : ['--ro-bind', '/dev/null', path]
    case 'scratch': return ['--tmpfs', path]
    case 'read': return ['--ro-bind', path, path]
    case 'write': return ['--bind', path, path]
  }
}

function namesOf(look: Look): readonly string[] {
  const names = look(NAMES)
  return names === null || names.real === NAMES ? [] : ['--ro-bind', names.real, names.real]
}
