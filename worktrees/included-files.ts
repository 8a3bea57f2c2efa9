import { constants, existsSync, lstatSync } from 'node:fs'
import { copyFile, mkdir, readFile, readlink, symlink, utimes } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { Git } from './git.ts'
import { lookAt } from './look-at.ts'

const INCLUDE_FILE = '.worktreeinclude'

/** What was copied: path → `describe` of the copy. */
export type Included = { readonly files: Readonly<Record<string, string>>; readonly warnings: readonly string[] }

/**
 * Copies the ignored files that `.worktreeinclude` (gitignore syntax) of a checkout names into a worktree of it (WKT-05), by reflink where the
 * disk can; links are copied as links, and nothing is written through one. A pattern or file that cannot be used is a warning. Rejects only when
 * aborted or when git fails.
 */
export async function copyIncluded(from: Git, to: string, signal?: AbortSignal): Promise<Included> {
  const list = join(from.root, INCLUDE_FILE)
  const warnings: string[] = []
  if (!lookAt(list)?.isFile()) {
    return { files: {}, warnings: existsSync(list) ? [`${INCLUDE_FILE} is no plain file: nothing of it was copied`] : [] }
  }
  for (const pattern of badPatterns(await readFile(list, 'utf8'))) warnings.push(`${INCLUDE_FILE}: the pattern "${pattern}" matches nothing: it is not closed. Mend or remove it.`)
  const files: Record<string, string> = {}
  const wanted = await listed(from, ['--exclude-from', list], signal)
  // Both must hold: a file the list names but git does not ignore is either tracked or would be carried as the parent's own change.
  const ignored = new Set(await listed(from, ['--exclude-standard'], signal))
  for (const path of wanted.filter((each) => ignored.has(each) && !each.startsWith('.cadre/worktrees/'))) {
    signal?.throwIfAborted()
    try {
      await copy(join(from.root, path), to, path)
      files[path] = describe(join(to, path)) ?? ''
    } catch (error) {
      warnings.push(`${INCLUDE_FILE}: ${path} was not copied: ${error instanceof Error ? error.message : String(error)}`)
    }
  }
  return { files, warnings }
}

/** A text that differs once a file was changed; null when it is not there. Links are not followed. */
export function describe(path: string): string | null {
  const stats = lookAt(path)
  return stats ? `${stats.mode} ${stats.size} ${stats.mtimeMs} ${stats.ctimeMs} ${stats.ino}` : null
}

async function listed(git: Git, which: readonly string[], signal?: AbortSignal): Promise<readonly string[]> {
  const output = await git.run(['ls-files', '-z', '--others', '--ignored', ...which], signal)
  return output.split('\0').filter((path) => path !== '' && !path.endsWith('/'))
}

async function copy(source: string, root: string, path: string): Promise<void> {
  refuseLinkedFolders(root, path)
  const target = join(root, path)
  await mkdir(dirname(target), { recursive: true })
  const stats = lstatSync(source)
  if (stats.isSymbolicLink()) return symlink(await readlink(source), target)
  if (!stats.isFile()) throw new Error('it is neither a file nor a link')
  await copyFile(source, target, constants.COPYFILE_FICLONE | constants.COPYFILE_EXCL)
  await utimes(target, stats.atime, stats.mtime)
}

/** A tracked link on the way would lead the copy out of the worktree. */
function refuseLinkedFolders(root: string, path: string): void {
  for (let at = dirname(path); at !== '.'; at = dirname(at)) {
    if (lookAt(join(root, at))?.isSymbolicLink()) throw new Error(`${at} is a link in the worktree`)
  }
}

/** Lines git would take without a word though they can match nothing: a bracket left open, or a lone backslash at the end. */
function badPatterns(text: string): readonly string[] {
  return text.split('\n').map((line) => line.trimEnd()).filter((line) => {
    if (line.startsWith('#')) return false
    const bare = line.replace(/\\./g, '')
    return bare.endsWith('\\') || bare.replace(/\[[!^]?\]?[^\]]*\]/g, '').includes('[')
  })
}
