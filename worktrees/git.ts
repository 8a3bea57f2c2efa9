import { availableParallelism } from 'node:os'
import { turnstile } from './turnstile.ts'

export { branchOf, headFile, mainCheckout, topLevel } from './repository.ts'

/** What one command is given beside its arguments. */
export type GitExtra = {
  /** Its standard input. */
  readonly input?: string
  /** Added to the little of the environment that git sees. */
  readonly env?: Readonly<Record<string, string>>
}

/** One place to run git in. */
export type Git = {
  readonly root: string
  /**
   * Runs git in the root; gives its whole standard output. Rejects with git's message, or with the signal's reason when aborted; a command that
   * fails without a message (`diff --quiet`) does not reject: see `exec`.
   */
  run(args: readonly string[], signal?: AbortSignal, extra?: GitExtra): Promise<string>
  /** As `run`, for commands that answer by their exit code. */
  exec(args: readonly string[], signal?: AbortSignal, extra?: GitExtra): Promise<{ readonly code: number; readonly output: string }>
}

/** No repository's hooks or file-system monitor runs, whatever its configuration says: both are programs of its author. */
const CONFIG = ['core.hooksPath=/dev/null', 'core.fsmonitor=false', 'core.quotePath=false', 'submodule.recurse=false'] as const

/** All that git sees of the environment. Messages are in English, it never asks for anything, and reading takes no lock. */
const PASSED_ON = ['PATH', 'HOME', 'XDG_CONFIG_HOME', 'TMPDIR', 'SystemRoot'] as const
const ADDED = { LC_ALL: 'C', GIT_TERMINAL_PROMPT: '0', GIT_OPTIONAL_LOCKS: '0' } as const

/** git processes of one `Git` at a time. */
const MAX_PROCESSES = Math.max(2, availableParallelism())

/** Opens a folder for git, whether or not it is in a repository; nothing runs until `run`. */
export function openGit(root: string): Git {
  const enter = turnstile(MAX_PROCESSES)

  async function exec(args: readonly string[], signal?: AbortSignal, { input, env = {} }: GitExtra = {}): Promise<{ code: number; output: string }> {
    const leave = await enter()
    let code = 0
    try {
      signal?.throwIfAborted()
      // Loaded on first use: it costs 20 ms and more, and most runs never ask git anything.
      const { simpleGit } = await import('simple-git')
      // An instance runs its commands one after the other, and takes its signal when made: so each command has its own.
      const git = simpleGit({
        baseDir: root,
        config: [...CONFIG],
        unsafe: { allowUnsafeHooksPath: true, allowUnsafeFsMonitor: true },
        allowEnvironment: [...Object.keys(ADDED), ...Object.keys(env)],
        completion: { onClose: true, onExit: false },
        errors(error, { exitCode }) {
          code = exitCode
          return error
        },
        ...(input !== undefined && { input: () => input }),
        ...(signal && { abort: signal }),
      })
      const output = await git.env({ ...environment(), ...env }).raw([...args])
      return { code, output }
    } catch (error) {
      signal?.throwIfAborted()
      throw error
    } finally {
      leave()
    }
  }

  return { root, exec, run: async (args, signal, extra) => (await exec(args, signal, extra)).output }
}

function environment(): Record<string, string> {
  const passedOn: Record<string, string> = {}
  for (const name of PASSED_ON) {
    const value = process.env[name]
    if (value !== undefined) passedOn[name] = value
  }
  return { ...passedOn, ...ADDED }
}
