import type { Git } from './git.ts'

/** Settings that make git run a program on the files it looks at. */
const FILTERS = ['config', '--show-scope', '--name-only', '--get-regexp', '^filter\\..*\\.(clean|process)$']

/** Those of the repository itself; the user's own filters (git-lfs, say) are the user's. */
const OWN_SCOPES = /^(?:local|worktree)\t/m

/**
 * Whether the repository's own configuration names filters: whatever git compares with files of the checkout would run them, and they may be
 * anybody's programs. Rejects when aborted, or without git.
 */
export const hasOwnFilters = async (git: Git, signal?: AbortSignal): Promise<boolean> => OWN_SCOPES.test(await git.run(FILTERS, signal))
