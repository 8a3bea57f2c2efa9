import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { openGit, type Git } from './git.ts'
import { describe } from './included-files.ts'
import { snapshot } from './snapshot.ts'
import { WorktreeError } from './worktree-error.ts'
import { gitDirOfWorktree, type Worktree } from './worktree.ts'

/** What a worktree holds beyond its base. */
export type Changes = {
  /** Tracked files that differ from the last commit; those of the parent that were carried in and are as they were do not count. */
  readonly changed: number
  readonly untracked: number
  /** Ignored files or folders that are new, or were copied in and have changed since. */
  readonly ignored: number
  /** Commits that are not in the base. */
  readonly ahead: number
  /** Commits the place it was made from has gained since (WKT-02); 0 when that place is gone. */
  readonly behind: number
  /** What HEAD is. */
  readonly head: string
  /** Whether all of this is nothing, and HEAD and branch are the base still (WKT-03). */
  readonly none: boolean
}

/** Asks git what is in a worktree. Rejects when git fails or the signal fires; changes nothing. */
export async function changesOf(git: Git, worktree: Worktree, signal?: AbortSignal): Promise<Changes> {
  const { branch, base } = worktree
  gitDirOfWorktree(git.root)
  const [head = '', tip = '', ...top] = (await git.run(['rev-parse', 'HEAD', `refs/heads/${branch}`, '--show-toplevel'], signal)).trimEnd().split('\n')
  if (top.join('\n') !== git.root) throw new WorktreeError('NO_CHECKOUT', `git takes ${top.join('\n')} for the top level of ${git.root}. Look at its core.worktree setting.`)
  const state = await status(git, worktree, signal)
  const ahead = Number(await git.run(['rev-list', '--count', head, tip, `^${base}`], signal))
  const behind = await commitsSince(worktree, signal)
  const ignored = state.ignored + changedCopies(worktree)
  const carried = worktree.carried !== null && ahead === 0 && head === base && (await snapshot(git, signal)) === worktree.carried
  const changed = (carried ? 0 : state.changed) + await hidden(git, signal)
  const untracked = carried ? 0 : state.untracked
  return { changed, untracked, ignored, ahead, behind, head, none: changed + untracked + ignored + ahead === 0 && head === base && tip === base }
}

/** One look at the whole tree. Ignored folders count as one where nothing ignored was copied in, else file by file. */
async function status(git: Git, { included }: Worktree, signal?: AbortSignal): Promise<{ changed: number; untracked: number; ignored: number }> {
  const untouched = Object.keys(included).length === 0
  const lines = (await git.run(['status', '--porcelain=v1', '-z', '--no-renames', '--untracked-files=all', '--ignore-submodules=none', `--ignored=${untouched ? 'traditional' : 'no'}`], signal)).split('\0').filter((line) => line !== '')
  const count = (mark: string): number => lines.filter((line) => line.startsWith(`${mark} `)).length
  const [untracked, seen] = [count('??'), count('!!')]
  return { changed: lines.length - untracked - seen, untracked, ignored: untouched ? seen : await newIgnored(git, included, signal) }
}

async function newIgnored(git: Git, included: Worktree['included'], signal?: AbortSignal): Promise<number> {
  const output = await git.run(['ls-files', '-z', '--others', '--ignored', '--exclude-standard'], signal)
  return output.split('\0').filter((path) => path !== '' && included[path] === undefined).length
}

const changedCopies = ({ path, included }: Worktree): number => Object.entries(included).filter(([file, was]) => describe(join(path, file)) !== was).length

/** Files marked so that git overlooks their changes: an agent may have done that, so they count as changed. */
async function hidden(git: Git, signal?: AbortSignal): Promise<number> {
  const sparse = existsSync(join(gitDirOfWorktree(git.root), 'info/sparse-checkout'))
  const output = await git.run(['ls-files', '-v', '-z'], signal)
  return output.split('\0').filter((line) => /^[a-z]/.test(line) || (!sparse && line.startsWith('S'))).length
}

async function commitsSince({ from, base }: Worktree, signal?: AbortSignal): Promise<number> {
  if (!existsSync(from)) return 0
  try {
    return Number(await openGit(from).run(['rev-list', '--count', 'HEAD', `^${base}`], signal))
  } catch {
    signal?.throwIfAborted()
    return 0 // the parent's worktree has gone
  }
}
