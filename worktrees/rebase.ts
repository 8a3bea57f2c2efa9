import type { Git } from './git.ts'
import { committerIn } from './identity.ts'

/** A branch as it would be on top of some commit. */
export type Rebased =
  | { readonly status: 'clean'; readonly commit: string; /** The branch's own last commit. */ readonly tip: string; /** How many commits it puts there; 0: all it does is there already. */ readonly commits: number }
  | { readonly status: 'conflict'; readonly files: readonly string[] }

export type Branch = { readonly branch: string; readonly base: string; readonly title: string }

type Commit = { readonly id: string; readonly tree: string; readonly parents: readonly string[]; readonly env: Readonly<Record<string, string>>; readonly message: string }

/**
 * Rebases the commits `base..branch` onto a commit, in git's store alone: no ref, index or file is touched (WKT-09). Authors, dates and messages are
 * kept; several commits stay several, but become one where the branch has merges or only its end fits. Rejects when git fails or the signal fires.
 */
export async function rebase(git: Git, { branch, base, title }: Branch, onto: string, signal?: AbortSignal): Promise<Rebased> {
  const tip = (await git.run(['rev-parse', '--verify', `refs/heads/${branch}^{commit}`], signal)).trim()
  const commits = await commitsOf(git, tip, [base, onto], signal)
  if (commits.length === 0) return { status: 'clean', commit: onto, tip, commits: 0 }
  const committer = await committerIn(git, signal)
  if (commits.every(({ parents }) => parents.length === 1)) {
    const picked = await pickAll(git, commits, onto, committer, signal)
    if (picked) return { status: 'clean', tip, ...picked }
  }
  const merged = await merge(git, onto, tip, signal)
  if (merged.files.length > 0 || merged.tree === null) return { status: 'conflict', files: merged.files }
  if (merged.tree === (await treeOf(git, onto, signal))) return { status: 'clean', commit: onto, tip, commits: 0 }
  const last = commits.at(-1)
  const message = commits.length === 1 ? (last?.message ?? title) : `${title}\n\n${subjects(commits)}\n`
  const commit = await write(git, { tree: merged.tree, parent: onto, message, env: { ...committer, ...last?.env } }, signal)
  return { status: 'clean', commit, tip, commits: 1 }
}

const subjects = (commits: readonly Commit[]): string =>
  commits.filter(({ parents }) => parents.length === 1).map(({ message }) => `* ${message.split('\n')[0] ?? ''}`).join('\n')

/** Null when one of them does not fit. */
async function pickAll(git: Git, commits: readonly Commit[], onto: string, committer: Readonly<Record<string, string>>, signal?: AbortSignal): Promise<{ commit: string; commits: number } | null> {
  let [at, tree] = [onto, await treeOf(git, onto, signal)]
  let count = 0
  for (const commit of commits) {
    const [parent = ''] = commit.parents
    if (parent === at) {
      ;[at, tree, count] = [commit.id, commit.tree, count + 1]
      continue
    }
    // git 2.39 cannot be told the base of a merge: a commit with this tree and the parent of the picked one has exactly that base.
    const side = await write(git, { tree, parent, message: 'side', env: { ...committer, ...commit.env } }, signal)
    const merged = await merge(git, side, commit.id, signal)
    if (merged.tree === null) return null
    if (merged.tree === tree) continue // it is there already
    tree = merged.tree
    at = await write(git, { tree, parent: at, message: commit.message, env: { ...committer, ...commit.env } }, signal)
    count += 1
  }
  return { commit: at, commits: count }
}

const FIELDS = ['%H', '%T', '%P', '%an', '%ae', '%ad', '%B'] as const

/** Oldest first. Their texts come in UTF-8, whatever they were written in. */
async function commitsOf(git: Git, tip: string, without: readonly string[], signal?: AbortSignal): Promise<readonly Commit[]> {
  const output = await git.run(
    ['log', '--reverse', '--topo-order', '--encoding=UTF-8', '--date=raw', '--no-show-signature', '--no-mailmap', '--no-notes', '-z', `--format=${FIELDS.join('%x01')}`, tip, ...without.map((id) => `^${id}`), '--'],
    signal,
  )
  return output.split('\0').filter((record) => record !== '').map((record) => {
    const [id = '', tree = '', parents = '', name = '', email = '', date = '', ...message] = record.split('\x01')
    return {
      id, tree,
      parents: parents.split(' ').filter((each) => each !== ''),
      env: { GIT_AUTHOR_NAME: name || 'unknown', GIT_AUTHOR_EMAIL: email, GIT_AUTHOR_DATE: `@${date}` },
      message: message.join('\x01'),
    }
  })
}

/** `tree` is null when the two do not fit together; `files` are then where. */
export async function merge(git: Git, one: string, other: string, signal?: AbortSignal, env?: Readonly<Record<string, string>>): Promise<{ tree: string | null; files: readonly string[] }> {
  const { code, output } = await git.exec(['merge-tree', '--write-tree', '--allow-unrelated-histories', '-z', '--name-only', '--no-messages', one, other], signal, env && { env })
  const [tree = '', ...files] = output.split('\0').filter((field) => field !== '')
  return code === 0 ? { tree, files: [] } : { tree: null, files }
}

const treeOf = async (git: Git, commit: string, signal?: AbortSignal): Promise<string> => (await git.run(['rev-parse', `${commit}^{tree}`], signal)).trim()

type New = { readonly tree: string; readonly parent: string; readonly message: string; readonly env: Readonly<Record<string, string>> }

const write = async (git: Git, { tree, parent, message, env }: New, signal?: AbortSignal): Promise<string> =>
  (await git.run(['-c', 'i18n.commitEncoding=UTF-8', 'commit-tree', tree, '-p', parent, '-F', '-'], signal, { input: message, env })).trim()
