import type { Git } from './git.ts'
import { WorktreeError } from './worktree-error.ts'

/** Settings that make git run a program on the files it looks at. */
const FILTERS = ['config', '--show-scope', '--name-only', '--get-regexp', '^filter\\..*\\.(clean|process)$']

/** Those of the repository itself; the user's own filters (git-lfs, say) are the user's. */
const OWN_SCOPES = /^(?:local|worktree)\t/m

/**
 * Whether the repository's own configuration names filters: whatever git compares with files of the checkout would run them, and they may be
 * anybody's programs. Rejects when aborted, or without git.
 */
export const hasOwnFilters = async (git: Git, signal?: AbortSignal): Promise<boolean> => OWN_SCOPES.test(await git.run(FILTERS, signal))

/** Settings that make git run a program when it writes, reads or merges files of a checkout. */
const PROGRAMS = ['config', '--show-scope', '--name-only', '-z', '--get-regexp', '^(filter\\..*\\.(clean|smudge|process)|merge\\..*\\.driver)$']

/**
 * The names of settings in the repository's own configuration by which checking out, committing or merging would run programs, which may be
 * anybody's. Empty: none. Rejects when aborted, or without git.
 */
export async function ownPrograms(git: Git, signal?: AbortSignal): Promise<readonly string[]> {
  const fields = (await git.run(PROGRAMS, signal)).split('\0')
  return fields.filter((_, at) => at % 2 === 1 && /^(?:local|worktree)$/.test(fields[at - 1] ?? ''))
}

/** Throws OWN_PROGRAMS where `ownPrograms` names any. */
export async function refuseOwnPrograms(git: Git, signal?: AbortSignal): Promise<void> {
  const names = await ownPrograms(git, signal)
  if (names.length > 0) {
    throw new WorktreeError('OWN_PROGRAMS', `The configuration of the repository in ${git.root} names programs that git would run (${names.join(', ')}). Remove them there, or put them into your own configuration (git config --global).`)
  }
}
