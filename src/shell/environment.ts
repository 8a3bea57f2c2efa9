/** What every command gets, if it is set. */
const PASSED = ['PATH', 'HOME', 'LANG', 'TERM'] as const

const SECRET = /_(?:KEY|TOKEN|SECRET|PASSWORD)$/i

/** SHL-05: the environment of a command. `passed` are the names of the setting `shell.env`; one that names a secret is not heeded. */
export function shellEnvironment({ env, passed, tmp }: {
  readonly env: Readonly<Record<string, string | undefined>>
  readonly passed: readonly string[]
  readonly tmp: string
}): Readonly<Record<string, string>> {
  const names = [...PASSED, ...passed].filter((name) => !SECRET.test(name))
  const given = names.flatMap((name) => {
    const value = env[name]
    return value === undefined ? [] : [[name, value] as const]
  })
  return { ...Object.fromEntries(given), TMPDIR: tmp, CI: '1' }
}
