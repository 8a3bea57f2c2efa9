import type { ShellPolicy } from './policy.ts'
import type { Look, ResolvedRule } from './resolve-rules.ts'
import { resolveRules } from './resolve-rules.ts'

/** What any program writes to. */
const DEVICES = '(allow file-write* (literal "/dev/null") (literal "/dev/zero") (literal "/dev/tty") (subpath "/dev/fd"))'

/** Asked for the address of every host. */
const RESOLVER = '(allow network-outbound (literal "/private/var/run/mDNSResponder"))'

/** The arguments of `sandbox-exec` that run `argv` under a policy (SHL-01…03). */
export const seatbeltArgv = (policy: ShellPolicy, look: Look, argv: readonly string[]): readonly string[] =>
  ['-p', seatbeltProfile(policy, look), '--', ...argv]

/** The policy in the language of macOS' Seatbelt, in which the last line that fits decides. Throws `SHELL` for a link that cannot be protected. */
export function seatbeltProfile(policy: ShellPolicy, look: Look): string {
  const rules = resolveRules(policy, look)
  const tmp: ResolvedRule = { path: look(policy.tmp)?.real ?? policy.tmp, access: 'write', folder: true }
  return [
    '(version 1)',
    '(allow default)',
    '(deny file-write*)',
    DEVICES,
    '(deny signal)',
    '(allow signal (target same-sandbox))',
    policy.network ? '(deny network-outbound (remote unix-socket))' : '(deny network*)',
    ...(policy.network ? [RESOLVER] : []),
    ...rules.flatMap(lines),
    ...lines(tmp),
    // Whoever moved a folder away would take along what is fixed in it.
    ...rules.filter(({ access }) => access !== 'none').map(({ path }) => `(deny file-write-unlink (literal ${JSON.stringify(path)}))`),
    '',
  ].join('\n')
}

function lines({ path, access }: ResolvedRule): readonly string[] {
  const below = `(subpath ${JSON.stringify(path)})`
  switch (access) {
    case 'none': return [`(deny file-read* file-write* ${below})`]
    case 'read': return [`(allow file-read* ${below})`, `(deny file-write* ${below})`]
    case 'scratch':
    case 'write': return [`(allow file-read* file-write* ${below})`]
  }
}
