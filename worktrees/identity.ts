import type { Git } from './git.ts'

const FALLBACK = { name: 'Cadre', email: 'cadre@localhost' } as const

/** What to add to git's environment so that it can commit where nobody has told it a name: nothing where somebody has. */
export async function committerIn(git: Git, signal?: AbortSignal): Promise<Readonly<Record<string, string>>> {
  const known = await git.run(['config', '--name-only', '--get-regexp', '^user\\.(name|email)$'], signal)
  if (known.includes('user.name') && known.includes('user.email')) return {}
  return { GIT_AUTHOR_NAME: FALLBACK.name, GIT_AUTHOR_EMAIL: FALLBACK.email, GIT_COMMITTER_NAME: FALLBACK.name, GIT_COMMITTER_EMAIL: FALLBACK.email }
}
