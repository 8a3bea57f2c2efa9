/** What a hook is given of the host's environment: what SHL-05 gives a shell, and who the user is. */
const PASSED: readonly string[] = ['PATH', 'HOME', 'LANG', 'LC_ALL', 'TERM', 'TMPDIR', 'USER', 'LOGNAME', 'SHELL']
/** Names of secrets (SHL-05): never passed, whoever asks for them. */
const SECRET = /_(KEY|TOKEN|SECRET|PASSWORD)$/i

/**
 * The environment of a command hook (PRM-11, SHL-05): a short list, what the setting `shell.env` names, and the folder users' scripts look
 * for, as `CLAUDE_PROJECT_DIR` and `CADRE_PROJECT_DIR`. A hook acts for the user, not for a model, and gets no key all the same.
 */
export function hookEnvironment(from: Readonly<Record<string, string | undefined>>, options: { readonly projectDir: string; readonly extra: readonly string[] }): Readonly<Record<string, string>> {
  const passed = [...PASSED, ...options.extra].flatMap((name) => {
    const value = from[name]
    return value === undefined || SECRET.test(name) ? [] : [[name, value] as const]
  })
  return { ...Object.fromEntries(passed), CLAUDE_PROJECT_DIR: options.projectDir, CADRE_PROJECT_DIR: options.projectDir }
}
