import { copyFileSync, existsSync, linkSync, readFileSync, renameSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Git } from './git.ts'
import { lookAt } from './look-at.ts'
import { overlapsOf } from './overlaps.ts'
import { gitDirOf } from './repository.ts'
import { undoFiles } from './undo-files.ts'
import { WorktreeError } from './worktree-error.ts'

/** A fast-forward of a branch. */
export type Landing = { readonly ref: string; readonly from: string; readonly to: string }

export type Landed =
  | { readonly status: 'landed' }
  /** The branch is elsewhere by now: nothing was changed. */
  | { readonly status: 'moved' }
  /** The user has changed these files: nothing was changed. */
  | { readonly status: 'overlap'; readonly files: readonly string[] }

/**
 * Files in the git folder of the checkout. A landing that was cut off is found by them; see recover.ts.
 *
 * - `lock` is there first and last; `index.lock` is a hard link to it while the landing runs, so git stands still and everybody can tell whose it is.
 * - `intent` (a `Landing`) is there from before the first file of the checkout is changed until the last is.
 * - `index` is the next index.
 */
export const landingFiles = (gitDir: string) =>
  ({ lock: join(gitDir, 'cadre-lock'), intent: join(gitDir, 'cadre-landing'), index: join(gitDir, 'cadre-index'), gitIndex: join(gitDir, 'index'), gitLock: join(gitDir, 'index.lock') })

/** How long the user's own git may hold the index. */
const INDEX_PATIENCE_MS = 10_000
const RETRY_MS = 20

/** Moves a branch that no checkout has. */
export async function landRef(git: Git, { ref, from, to }: Landing, signal?: AbortSignal): Promise<Landed> {
  return (await moveRef(git, { ref, from, to }, signal)) ? { status: 'landed' } : { status: 'moved' }
}

/**
 * Moves a branch together with the checkout that is on it: files, then the branch, then the index. The user's uncommitted changes are not touched
 * (WKT-10). Cut off anywhere, `recover` makes it whole or undoes it: the branch decides which. Rejects with LOCKED when another git holds the
 * index for long, and with git's message; nothing has changed then.
 */
export async function landCheckout(git: Git, landing: Landing, signal?: AbortSignal): Promise<Landed> {
  const gitDir = gitDirOf(git.root)
  if (gitDir === null) throw new WorktreeError('NO_CHECKOUT', `${git.root} is no checkout of git any more.`)
  const files = landingFiles(gitDir)
  await lockIndex(files, landing, signal)
  try {
    copyIndex(files)
    const onCopy = { env: { GIT_INDEX_FILE: files.index } }
    await git.exec(['update-index', '-q', '--refresh'], signal, onCopy)
    if ((await git.run(['rev-parse', '--verify', landing.ref], signal)).trim() !== landing.from) return { status: 'moved' }
    const overlaps = await overlapsOf(git, landing, signal, onCopy.env)
    if (overlaps.length > 0) return { status: 'overlap', files: overlaps }
    signal?.throwIfAborted() // from here on it is not stopped half-way
    writeWhole(files.intent, JSON.stringify(landing))
    try {
      await git.run(['read-tree', '-m', '-u', landing.from, landing.to], undefined, onCopy)
    } catch (error) {
      // git looks again before it writes: the user may have been quicker.
      await undoFiles(git, landing)
      rmSync(files.intent)
      const late = await overlapsOf(git, landing, undefined, onCopy.env)
      if (late.length > 0) return { status: 'overlap', files: late }
      throw error
    }
    if (!(await moveRef(git, landing))) {
      await undoFiles(git, landing)
      rmSync(files.intent)
      return { status: 'moved' }
    }
    renameSync(files.index, files.gitIndex)
    rmSync(files.intent)
    return { status: 'landed' }
  } finally {
    if (!existsSync(files.intent)) unlockIndex(files)
  }
}

type Files = ReturnType<typeof landingFiles>

/** Waits for the index, then keeps every git away from it. */
export async function lockIndex(files: Files, landing: Landing, signal?: AbortSignal): Promise<void> {
  writeWhole(files.lock, `${JSON.stringify(landing)}\n`)
  for (const until = performance.now() + INDEX_PATIENCE_MS; ; ) {
    try {
      return linkSync(files.lock, files.gitLock)
    } catch (error) {
      if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error
    }
    if (performance.now() > until || signal?.aborted) {
      rmSync(files.lock, { force: true })
      signal?.throwIfAborted()
      throw new WorktreeError('LOCKED', `Another git is at work: ${files.gitLock} exists. Wait until it has ended; if none runs, remove that file.`)
    }
    await sleep(RETRY_MS)
  }
}

/** Whether the lock git sees is a landing's. */
export function isIndexLocked({ lock, gitLock }: Files): boolean {
  const [ours, theirs] = [lookAt(lock), lookAt(gitLock)]
  return ours !== undefined && theirs !== undefined && ours.ino === theirs.ino && ours.dev === theirs.dev
}

export function unlockIndex(files: Files): void {
  rmSync(files.index, { force: true })
  for (const draft of [`${files.index}.lock`, `${files.intent}.new`, `${files.lock}.new`]) rmSync(draft, { force: true })
  if (isIndexLocked(files)) rmSync(files.gitLock)
  rmSync(files.lock, { force: true })
}

/** Copies the index, and when it was written: git tells files that were changed right then by that time. */
export function copyIndex({ gitIndex, index }: Files): void {
  rmSync(`${index}.lock`, { force: true })
  copyFileSync(gitIndex, index)
  const seconds = Math.floor(statSync(gitIndex).mtimeMs / 1_000)
  utimesSync(index, seconds, seconds)
}

/** Reads what a landing wrote down; null when it wrote nothing. */
export function readLanding(path: string): Landing | null {
  return existsSync(path) ? (JSON.parse(readFileSync(path, 'utf8')) as Landing) : null // written at once, by us
}

/** Whether the branch was where it was expected to be. */
export async function moveRef(git: Git, { ref, from, to }: Landing, signal?: AbortSignal): Promise<boolean> {
  try {
    await git.run(['update-ref', '-m', 'cadre: land', ref, to, from], signal)
    return true
  } catch (error) {
    if ((await git.exec(['rev-parse', '--verify', '--quiet', ref], signal)).output.trim() === from) throw error
    return false
  }
}

function writeWhole(path: string, text: string): void {
  writeFileSync(`${path}.new`, text)
  renameSync(`${path}.new`, path)
}
