import { passedEnvironment } from '../core/passed-environment.ts'

/** What a hook is given of the host's environment: what SHL-05 gives a shell, and who the user is. */
const PASSED: readonly string[] = ['PATH', 'HOME', 'LANG', 'LC_ALL', 'TERM', 'TMPDIR', 'USER', 'LOGNAME', 'SHELL']

/**
 * The environment of a command hook (PRM-11, SHL-05): a short list, what the setting `shell.env` names, and the folder users' scripts look
 * for, as `CLAUDE_PROJECT_DIR` and `CADRE_PROJECT_DIR`. A hook acts for the user, not for a model, and gets no key all the same.
 */
export function hookEnvironment(from: Readonly<Record<string, string | undefined>>, options: { readonly projectDir: string; readonly extra: readonly string[] }): Readonly<Record<string, string>> {
  return { ...passedEnvironment(from, [...PASSED, ...options.extra]), CLAUDE_PROJECT_DIR: options.projectDir, CADRE_PROJECT_DIR: options.projectDir }
}
