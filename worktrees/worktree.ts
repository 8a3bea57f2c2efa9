import { mkdirSync, readFileSync, realpathSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { commonDirOf, gitDirOf } from './repository.ts'
import { WorktreeError } from './worktree-error.ts'

/** A checkout of its own for one agent (WKT-01). Plain data: `reopen(path)` gives it again in another process. */
export type Worktree = {
  /** Its top level. */
  readonly path: string
  readonly branch: string
  /** The commit it began with (full id). */
  readonly base: string
  /** Uncommitted files of the parent at that time; they are in it only when `carried` is set (WKT-02). */
  readonly parentDirty: number
  /** The folder whose HEAD was the base. */
  readonly from: string
  /** The tree (id) of the parent's uncommitted state it began with; null: none was carried. */
  readonly carried: string | null
  /** Ignored files it began with (WKT-05), by path, as `describe` of included-files.ts saw them. */
  readonly included: Readonly<Record<string, string>>
}

/**
 * Where git keeps the data of a worktree. An agent can write the `.git` file of its own, so it is believed only if it leads where this repository
 * keeps its worktrees, and from there back. Throws NO_CHECKOUT otherwise.
 */
export function gitDirOfWorktree(path: string): string {
  const main = dirname(worktreesFolderOf(path))
  const gitDir = gitDirOf(path)
  const shared = gitDirOf(dirname(main))
  const isOurs = gitDir !== null && shared !== null && dirname(realpathSync(gitDir)) === join(commonDirOf(shared), 'worktrees')
  if (isOurs && readFileSync(join(gitDir, 'gitdir'), 'utf8').trim() === join(path, '.git')) return gitDir
  throw new WorktreeError('NO_CHECKOUT', `${path} is no worktree of ${dirname(main)} any more. Nothing was changed; run the agent again.`)
}

/** Written last, so a worktree without a record is one whose opening was cut off: no agent ever ran in it. */
export function writeRecord(worktree: Worktree): void {
  const file = recordOf(worktree.path)
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(`${file}.new`, JSON.stringify(worktree))
  renameSync(`${file}.new`, file)
}

/** What `writeRecord` wrote; null when there is none. */
export function readRecord(path: string): Worktree | null {
  try {
    return JSON.parse(readFileSync(recordOf(path), 'utf8')) as Worktree // written by us, where no agent can write
  } catch {
    return null // not there
  }
}

export const dropRecord = (path: string): void => rmSync(recordOf(path), { force: true })

const worktreesFolderOf = (path: string): string => (basename(dirname(path)).startsWith('.') ? dirname(dirname(path)) : dirname(path))

const recordOf = (path: string): string => join(worktreesFolderOf(path), '.records', `${basename(path)}.json`)
