import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { openGit, type Git } from './git.ts'
import { copyIncluded } from './included-files.ts'
import { lockReason } from './registry.ts'
import type { RepositoryWorktrees } from './repository-worktrees.ts'
import { topLevel } from './repository.ts'
import { snapshot } from './snapshot.ts'
import type { WorktreePool } from './worktree-pool.ts'
import { writeRecord, type Worktree } from './worktree.ts'
import { makeWorktreesFolder } from './worktrees-folder.ts'

/** What a worktree is to be. */
export type Wanted = {
  /** What its folder and branch are named after; any text. */
  readonly name: string
  /** A folder of the checkout whose HEAD is the base: the parent's worktree (WKT-01). */
  readonly from: string
  /** Whether the parent's uncommitted changes are carried in (WKT-02). Ignored files never are, but by `.worktreeinclude`. */
  readonly carryDirty?: boolean
  readonly signal?: AbortSignal
}

/** Makes a worktree on a branch of its own at `base`, from the pool where it can. Rejects when git fails or the signal fires; what is there by then is swept once the owner is dead. */
export async function openWorktree(
  { repository, pool, owner, warn }: { readonly repository: RepositoryWorktrees; readonly pool: WorktreePool; readonly owner: string; readonly warn: (text: string) => void },
  { name, from, carryDirty = false, signal }: Wanted,
  base: string,
): Promise<Worktree> {
  const folder = makeWorktreesFolder(repository.git.root)
  const unique = `${slug(name)}-${randomUUID().slice(0, 8)}`
  const [path, branch] = [join(folder, unique), `cadre/${unique}`]
  const parent = openGit(topLevel(from) ?? from)

  const pooled = await repository.alone(() => acquire(repository.git, pool, { path, branch, base, owner, signal }), signal)
  const git = openGit(path)
  await repository.onTree(() => (pooled === null ? write(git, base, signal) : renew(git, pooled, base, signal)))
  const parentDirty = await dirtyIn(parent, signal)
  const carried = carryDirty && parentDirty > 0 ? await carry(parent, git, base, signal) : null
  const included = await copyIncluded(parent, path, signal)
  included.warnings.forEach(warn)
  const worktree: Worktree = { path, branch, base, parentDirty, from: parent.root, carried, included: included.files }
  writeRecord(worktree)
  return worktree
}

type Place = { readonly path: string; readonly branch: string; readonly base: string; readonly owner: string; readonly signal: AbortSignal | undefined }

/** Answers the commit whose tree is there already, as it came from the pool; null: none is. */
async function acquire(git: Git, pool: WorktreePool, { path, branch, base, owner, signal }: Place): Promise<string | null> {
  if (await pool.take(path, owner)) {
    const there = (await openGit(path).run(['rev-parse', 'HEAD'], signal)).trim()
    await git.run(['update-ref', `refs/heads/${branch}`, base, ''], signal)
    await openGit(path).run(['symbolic-ref', 'HEAD', `refs/heads/${branch}`], signal)
    return there
  }
  await git.run(['worktree', 'add', '--quiet', '--no-checkout', '--no-track', '--lock', '--reason', lockReason(owner), '-b', branch, path, base], signal)
  return null
}

async function write(git: Git, base: string, signal?: AbortSignal): Promise<void> {
  await git.run(['reset', '--quiet', '--hard', base], signal)
}

/** Makes a pooled tree that of another commit, and sees that nothing else is in it, ignored or not: somebody may have been there. */
async function renew(git: Git, there: string, base: string, signal?: AbortSignal): Promise<void> {
  if (there !== base) await write(git, base, signal)
  const left = await git.run(['status', '--porcelain=v1', '-z', '--no-renames', '--untracked-files=normal', '--ignored=traditional', '--ignore-submodules=none'], signal)
  if (left === '') return
  await write(git, base, signal)
  await git.run(['clean', '-ffdxq'], signal)
}

/** Under way now, by the parent's folder: those who ask at once share one look at a tree that may be large. */
const looks = new Map<string, Promise<number>>()

/** How many uncommitted files a checkout has. */
async function dirtyIn(parent: Git, signal?: AbortSignal): Promise<number> {
  const look = looks.get(parent.root) ?? countDirty(parent).finally(() => looks.delete(parent.root))
  looks.set(parent.root, look)
  const count = await look
  signal?.throwIfAborted()
  return count
}

const countDirty = async (parent: Git): Promise<number> => (await parent.run(['status', '--porcelain=v1', '-z', '--no-renames', '--untracked-files=all'])).split('\0').length - 1

/** Puts the parent's uncommitted files into a fresh worktree, where they are uncommitted too; answers their tree. */
async function carry(parent: Git, git: Git, base: string, signal?: AbortSignal): Promise<string | null> {
  const tree = await snapshot(parent, signal)
  if (tree === (await git.run(['rev-parse', `${base}^{tree}`], signal)).trim()) return null
  await git.run(['restore', `--source=${tree}`, '--worktree', '--', '.'], signal)
  return tree
}

const NAME_CHARS = 40

/** A text every file system takes as a folder's name and git as a branch's. */
function slug(name: string): string {
  const plain = name.normalize('NFKD').replace(/[^A-Za-z0-9]+/g, '-').slice(0, NAME_CHARS).replace(/^-+|-+$/g, '').toLowerCase()
  return plain === '' ? 'agent' : plain
}
