import { passedEnvironment } from '../core/passed-environment.ts'

/** What every command gets, if it is set. */
const PASSED = ['PATH', 'HOME', 'LANG', 'TERM'] as const

/** SHL-05: the environment of a command. `passed` are the names of the setting `shell.env`; one that names a secret is not heeded. */
export function shellEnvironment({ env, passed, tmp }: {
  readonly env: Readonly<Record<string, string | undefined>>
  readonly passed: readonly string[]
  readonly tmp: string
}): Readonly<Record<string, string>> {
  return { ...passedEnvironment(env, [...PASSED, ...passed]), TMPDIR: tmp, CI: '1' }
}
