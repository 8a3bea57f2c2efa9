import { availableParallelism } from 'node:os'

export { branchOf, headFile, mainCheckout, topLevel } from './repository.ts'

/** One place to run git in. */
export type Git = {
  readonly root: string
  /** Runs git in the root; gives its whole standard output. Rejects with git's message, or with the signal's reason when aborted. */
  run(args: readonly string[], signal?: AbortSignal): Promise<string>
}

/** No repository's hooks or file-system monitor runs, whatever its configuration says: both are programs of its author. */
const CONFIG = ['core.hooksPath=/dev/null', 'core.fsmonitor=false', 'core.quotePath=false'] as const

/** All that git sees of the environment. Messages are in English, it never asks for anything, and reading takes no lock. */
const PASSED_ON = ['PATH', 'HOME', 'XDG_CONFIG_HOME', 'TMPDIR', 'SystemRoot'] as const
const ADDED = { LC_ALL: 'C', GIT_TERMINAL_PROMPT: '0', GIT_OPTIONAL_LOCKS: '0' } as const

/** git processes of one `Git` at a time. */
const MAX_PROCESSES = Math.max(2, availableParallelism())

/** Opens a folder for git, whether or not it is in a repository; nothing runs until `run`. */
export function openGit(root: string): Git {
  const enter = turnstile(MAX_PROCESSES)
  return {
    root,
    async run(args, signal) {
      const leave = await enter()
      try {
        signal?.throwIfAborted()
        // Loaded on first use: it costs 20 ms and more, and most runs never ask git anything.
        const { simpleGit } = await import('simple-git')
        // An instance runs its commands one after the other, and takes its signal when made: so each command has its own.
        const git = simpleGit({
          baseDir: root,
          config: [...CONFIG],
          unsafe: { allowUnsafeHooksPath: true, allowUnsafeFsMonitor: true },
          allowEnvironment: Object.keys(ADDED),
          completion: { onClose: true, onExit: false },
          ...(signal && { abort: signal }),
        })
        return await git.env(environment()).raw([...args])
      } catch (error) {
        signal?.throwIfAborted()
        throw error
      } finally {
        leave()
      }
    },
  }
}

function environment(): Record<string, string> {
  const passedOn: Record<string, string> = {}
  for (const name of PASSED_ON) {
    const value = process.env[name]
    if (value !== undefined) passedOn[name] = value
  }
  return { ...passedOn, ...ADDED }
}

/** Lets `limit` callers in at a time, in order; each gets the function that lets it out. */
function turnstile(limit: number): () => Promise<() => void> {
  const waiting: (() => void)[] = []
  let inside = 0
  const leave = (): void => {
    const next = waiting.shift()
    if (next) next()
    else inside -= 1
  }
  return async () => {
    if (inside < limit) inside += 1
    else await new Promise<void>((resolve) => waiting.push(resolve))
    return leave
  }
}
