import { openGit, type Git } from './git.ts'
import { committerIn } from './identity.ts'
import { refuseOwnPrograms } from './own-filters.ts'
import { WorktreeError } from './worktree-error.ts'
import { gitDirOfWorktree, type Worktree } from './worktree.ts'

export type CommitOptions = {
  readonly message: string
  readonly author?: { readonly name: string; readonly email: string }
  /** As for `openWorktrees`. */
  readonly trustPrograms?: boolean
  readonly signal?: AbortSignal
}

/**
 * Makes one commit of everything an agent left uncommitted, ignored files left out; answers its id, null when there is nothing. Also brings the
 * worktree's branch to where HEAD is, if the agent worked beside it. The committer is the user's as git knows it, else Cadre.
 *
 * Rejects with UNMERGED when a merge is half done, with BRANCH when HEAD and the branch went different ways, with OWN_PROGRAMS, and with git's message.
 */
export async function commitAll(worktree: Worktree, { message, author, trustPrograms = false, signal }: CommitOptions): Promise<string | null> {
  gitDirOfWorktree(worktree.path)
  const git = openGit(worktree.path)
  if (!trustPrograms) await refuseOwnPrograms(git, signal)
  const unmerged = (await git.run(['ls-files', '--unmerged', '-z'], signal)).split('\0').filter((entry) => entry !== '')
  if (unmerged.length > 0) {
    const files = [...new Set(unmerged.map((entry) => entry.slice(entry.indexOf('\t') + 1)))]
    throw new WorktreeError('UNMERGED', `A merge in ${worktree.path} is half done: ${files.join(', ')}. Resolve it there, or run \`git merge --abort\`.`)
  }
  await git.run(['add', '--all'], signal)
  const staged = await git.exec(['diff-index', '--cached', '--quiet', 'HEAD'], signal)
  if (staged.code !== 0) {
    const env = { ...(await committerIn(git, signal)), ...(author && { GIT_AUTHOR_NAME: author.name, GIT_AUTHOR_EMAIL: author.email }) }
    const text = message.trim() === '' ? `Changes of ${worktree.branch}` : message
    await git.run(['commit', '--quiet', '--no-verify', '--no-gpg-sign', '--cleanup=whitespace', '--file=-'], signal, { env, input: text })
  }
  await bringBranch(git, worktree, signal)
  return staged.code === 0 ? null : (await git.run(['rev-parse', 'HEAD'], signal)).trim()
}

async function bringBranch(git: Git, { path, branch }: Worktree, signal?: AbortSignal): Promise<void> {
  const ref = `refs/heads/${branch}`
  if ((await git.exec(['symbolic-ref', '--quiet', 'HEAD'], signal)).output.trim() === ref) return
  const [head = '', tip = ''] = (await git.run(['rev-parse', 'HEAD', ref], signal)).trim().split('\n')
  if ((await git.exec(['merge-base', '--is-ancestor', tip, head], signal)).code !== 0) {
    throw new WorktreeError('BRANCH', `HEAD of ${path} left the branch ${branch} and does not hold its commits. Merge the two there.`)
  }
  await git.run(['update-ref', ref, head, tip], signal)
  await git.run(['symbolic-ref', 'HEAD', ref], signal)
}
