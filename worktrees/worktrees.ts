import { existsSync, realpathSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { completeCheckout, endWorktree, removeWorktree, type Ended } from './end-worktree.ts'
import { openGit } from './git.ts'
import { openWorktree, type Wanted } from './open-worktree.ts'
import { ownPrograms } from './own-filters.ts'
import { lockReason, ownerOf, registered } from './registry.ts'
import { repositoryWorktrees } from './repository-worktrees.ts'
import { mainCheckout } from './repository.ts'
import { createWorktreePool } from './worktree-pool.ts'
import { readRecord, type Worktree } from './worktree.ts'
import { refuseLinks } from './worktrees-folder.ts'

/** Why an agent cannot have a worktree; `note` is for its result. */
export type NoWorktree = { readonly none: 'no-git' | 'no-commit' | 'own-programs' | 'gone' | 'in-use'; readonly note: string }

export type WorktreesOptions = {
  /** Any folder of the repository. */
  readonly checkout: string
  /** Whom the worktrees are locked for: one line, the same as long as the owner lives, never used again by another. */
  readonly owner: string
  /** Whether another owner (as it named itself) is alive. */
  isAlive(owner: string): boolean | Promise<boolean>
  /** Whether filters and merge drivers of the repository's own configuration may run: they are anybody's programs. Without it such a repository has no worktrees. */
  readonly trustPrograms?: boolean
  /** Told one line per thing that is not as wanted, and no reason to stop. */
  onWarning?(text: string): void
}

/** The worktrees of one repository, for one owner. Several owners, in several processes, may have one each. */
export type Worktrees = {
  /**
   * A new worktree, or why there can be none (WKT-04). Throws SYMLINK (WKT-07); rejects with git's message when git fails, with the signal's reason when it fires.
   */
  open(wanted: Wanted): Promise<Worktree | NoWorktree>
  /** The worktree with this path again, for an agent that goes on (WKT-03); locked for this owner from now on. */
  reopen(path: string, signal?: AbortSignal): Promise<Worktree | NoWorktree>
  /** Removes it if nothing is in it, else says what is. `landed`: the commit of its branch that has landed, which then counts as nothing. Never rejects but when aborted. */
  end(worktree: Worktree, options?: { readonly landed?: string; readonly signal?: AbortSignal }): Promise<Ended>
  /** Frees the locks of dead owners and removes those of their worktrees with nothing in them (WKT-08); answers what became of each. */
  sweep(signal?: AbortSignal): Promise<readonly Ended[]>
}

const NO_GIT = 'no git here: ran without a worktree'

/** Nothing is looked at or made before the first call. */
export function openWorktrees({ checkout, owner, isAlive, trustPrograms = false, onWarning = () => {} }: WorktreesOptions): Worktrees {
  let known: ReturnType<typeof placeOf> | undefined
  const place = (): ReturnType<typeof placeOf> => (known ??= placeOf(checkout))

  return {
    async open(wanted) {
      const at = place()
      if (at === null) return { none: 'no-git', note: NO_GIT }
      refuseLinks(at.repository.git.root)
      const git = openGit(wanted.from)
      let base: string
      try {
        base = (await git.run(['rev-parse', '--verify', 'HEAD^{commit}'], wanted.signal)).trim()
      } catch {
        wanted.signal?.throwIfAborted()
        return { none: 'no-commit', note: NO_GIT }
      }
      const programs = trustPrograms ? [] : await ownPrograms(git, wanted.signal)
      if (programs.length > 0) return { none: 'own-programs', note: `${programs.join(', ')} of the repository's own configuration would run a program: ran without a worktree` }
      return openWorktree({ ...at, owner, warn: onWarning }, wanted, base)
    },

    async reopen(path, signal) {
      const gone = (why: string): NoWorktree => ({ none: 'gone', note: `the worktree ${path} cannot be used again: ${why}` })
      const at = place()
      if (at === null) return { none: 'no-git', note: NO_GIT }
      refuseLinks(at.repository.git.root)
      const { repository: { git, folder, alone } } = at
      return alone(async () => {
        const listed = (await registered(git, signal)).find((each) => each.path === path)
        if (listed === undefined || dirname(path) !== folder) return gone('git does not know it')
        const worktree = readRecord(path)
        if (worktree === null || realpathSync(path) !== path) return gone('it is not as it was made')
        const programs = trustPrograms ? [] : await ownPrograms(openGit(path), signal)
        if (programs.length > 0) return { none: 'own-programs', note: `${programs.join(', ')} of the repository's own configuration would run a program` }
        const other = ownerOf(listed)
        if (listed.lock !== null && other === null) return { none: 'in-use', note: `the worktree ${path} is locked: ${listed.lock}` }
        if (other !== null && other !== owner && (await isAlive(other))) return { none: 'in-use', note: `the worktree ${path} is in use by ${other}` }
        if (listed.lock !== null) await git.run(['worktree', 'unlock', path], signal)
        await git.run(['worktree', 'lock', '--reason', lockReason(owner), path], signal)
        return worktree
      }, signal)
    },

    async end(worktree, options = {}) {
      const at = place()
      if (at === null) return { kept: true, path: worktree.path, branch: worktree.branch, base: worktree.base, failure: `${checkout} is no repository any more` }
      return endWorktree({ ...at, trustPrograms }, worktree, options)
    },

    async sweep(signal) {
      const at = place()
      if (at === null) return []
      refuseLinks(at.repository.git.root)
      const { repository } = at
      const { git, folder, alone } = repository
      const ended: Ended[] = []
      for (const { path, branch } of await registered(git, signal)) {
        try {
          if (!path.startsWith(join(folder, '/')) || !(await alone(() => takeOver(path), signal))) continue
          const worktree = readRecord(path)
          const end = worktree === null ? await sweepUnfinished(path, branch) : await endWorktree({ ...at, trustPrograms }, worktree, signal && { signal })
          if (end.kept) await alone(() => git.run(['worktree', 'unlock', path], signal), signal)
          ended.push(end)
        } catch (error) {
          signal?.throwIfAborted()
          ended.push({ kept: true, path, branch: branch ?? '', base: '', failure: error instanceof Error ? error.message.trim() : String(error) })
        }
      }
      return ended

      /** Whether it was a dead owner's: it is locked for this owner then, so that no other sweep works on it too. */
      async function takeOver(path: string): Promise<boolean> {
        const now = (await registered(git, signal)).find((each) => each.path === path)
        const whose = now ? ownerOf(now) : null
        if (whose === null || whose === owner || (await isAlive(whose))) return false
        await git.run(['worktree', 'unlock', path], signal)
        await git.run(['worktree', 'lock', '--reason', lockReason(owner), path], signal)
        return true
      }

      /** One whose opening was cut off, or that was on its way into the pool, or whose folder somebody removed: then its branch stays. */
      async function sweepUnfinished(path: string, branch: string | null): Promise<Ended> {
        const isThere = existsSync(path)
        if (isThere) await completeCheckout(path, signal)
        const head = (await git.run(['rev-parse', '--verify', branch === null ? 'HEAD' : `refs/heads/${branch}`], signal)).trim()
        await alone(async () => {
          await removeWorktree(repository, path)
          if (isThere && branch?.startsWith('cadre/')) await git.run(['update-ref', '-d', `refs/heads/${branch}`, head])
        }, signal)
        return { kept: false, path, branch: branch ?? '' }
      }
    },
  }
}

function placeOf(checkout: string) {
  const main = mainCheckout(checkout)
  if (main === null) return null
  const repository = repositoryWorktrees(main)
  return { repository, pool: createWorktreePool(repository) }
}
