import { existsSync, readFileSync, realpathSync, statSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'

/**
 * The top level of the repository a folder lies in (SCO-02); null outside of any. Found as git finds it, from the files alone: every start
 * of the command asks this, and a git process costs more than all the rest of it.
 */
export function topLevel(folder: string): string | null {
  for (let at = realpathSync(folder); ; at = dirname(at)) {
    if (gitDirOf(at) !== null) return at
    if (dirname(at) === at) return null
  }
}

/** The top level of the main checkout, also when the folder lies in one of its linked worktrees (SCO-03); null outside of a checkout. */
export function mainCheckout(folder: string): string | null {
  const top = topLevel(folder)
  const gitDir = top === null ? null : gitDirOf(top)
  if (gitDir === null) return null
  const shared = firstLine(join(gitDir, 'commondir'))
  if (shared === null) return top
  const common = realpathSync(resolve(gitDir, shared))
  return basename(common) === '.git' ? dirname(common) : null
}

/** The file that changes with every commit of the checkout a folder lies in (a branch's own, the packed ones, or HEAD itself); null outside of one. */
export function headFile(folder: string): string | null {
  const top = topLevel(folder)
  const gitDir = top === null ? null : gitDirOf(top)
  if (gitDir === null) return null
  const branch = /^ref: (.+)$/.exec(firstLine(join(gitDir, 'HEAD')) ?? '')?.[1]
  if (branch === undefined) return join(gitDir, 'HEAD')
  const common = resolve(gitDir, firstLine(join(gitDir, 'commondir')) ?? '.')
  const loose = join(common, branch)
  return existsSync(loose) ? loose : join(common, 'packed-refs')
}

/** The branch checked out where a folder lies, from the files alone; null outside of a checkout, and when HEAD is on none. */
export function branchOf(folder: string): string | null {
  const top = topLevel(folder)
  const gitDir = top === null ? null : gitDirOf(top)
  return gitDir === null ? null : (/^ref: refs\/heads\/(.+)$/.exec(firstLine(join(gitDir, 'HEAD')) ?? '')?.[1] ?? null)
}

/** The folder where git keeps what all checkouts of a repository share, given the git folder of one of them. */
export const commonDirOf = (gitDir: string): string => realpathSync(resolve(gitDir, firstLine(join(gitDir, 'commondir')) ?? '.'))

/** The folder where git keeps the data of a checkout with this top level; null when it is none. Worktrees and submodules have a file that names it. */
export function gitDirOf(top: string): string | null {
  const dotGit = join(top, '.git')
  if (!existsSync(dotGit)) return null
  const named = statSync(dotGit).isFile() ? /^gitdir: (.+?)[\r\n]*$/s.exec(readFileSync(dotGit, 'utf8'))?.[1] : '.git'
  const gitDir = named === undefined ? null : resolve(top, named)
  return gitDir !== null && existsSync(join(gitDir, 'HEAD')) ? gitDir : null
}

function firstLine(file: string): string | null {
  try {
    return statSync(file).isFile() ? (readFileSync(file, 'utf8').split('\n')[0]?.trim() ?? null) : null
  } catch {
    return null // not there: the checkout is not linked
  }
}
