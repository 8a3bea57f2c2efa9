import { existsSync, statSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'

import { readIfRegular } from './regular-file.ts'

/** Where a repository keeps its data: `commonDir` is what linked worktrees share. */
export type GitFolder = { readonly top: string; readonly gitDir: string; readonly commonDir: string }

/** The repository whose top level is this folder; null when there is none. Follows the `.git` file of worktrees and submodules. */
export function gitFolderAt(folder: string): GitFolder | null {
  const dotGit = join(folder, '.git')
  const stats = statSync(dotGit, { throwIfNoEntry: false })
  if (stats === undefined) return null
  const gitDir = stats.isDirectory() ? dotGit : linkedGitDir(folder, dotGit)
  if (gitDir === null || !existsSync(join(gitDir, 'HEAD'))) return null
  const shared = firstLine(join(gitDir, 'commondir'))
  const commonDir = shared === null ? gitDir : resolve(gitDir, shared)
  return existsSync(join(commonDir, 'objects')) ? { top: folder, gitDir, commonDir } : null
}

/** The repository a folder lies in. */
export function gitFolderAbove(folder: string): GitFolder | null {
  return gitFolderAt(folder) ?? (dirname(folder) === folder ? null : gitFolderAbove(dirname(folder)))
}

function linkedGitDir(folder: string, file: string): string | null {
  const target = /^gitdir: (.+)$/.exec(firstLine(file) ?? '')?.[1]
  return target === undefined ? null : resolve(folder, target)
}

/** Null when there is no such file: the checkout is not linked. */
const firstLine = (file: string): string | null => readIfRegular(file)?.toString('utf8').split('\n')[0]?.trim() ?? null
