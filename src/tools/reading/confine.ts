import { readlinkSync, realpathSync } from 'node:fs'
import { basename, dirname, isAbsolute, join, resolve, sep } from 'node:path'

import type { ReadContext } from '../../core/tool.ts'

/** Links followed by hand before a path counts as a loop; the kernel's own limit. */
const MAX_LINKS = 40

/** Where a path leads: its real path, and how outcomes name it (relative to the root, or absolute in a further granted folder). */
export type Place = { readonly real: string; readonly path: string }

/**
 * TOO-02: the place a path names, with every link resolved, also where the last parts do not exist yet. Relative paths start at the root.
 * Callers open `real`, never the path they were given, so what was checked is what is opened.
 * Throws `Path is outside the workspace: <path>`.
 */
export function confine({ root, paths }: Pick<ReadContext, 'root' | 'paths'>, path: string): Place {
  const realRoot = realpathSync.native(root)
  const real = path.includes('\0') ? null : realOf(resolve(realRoot, path), path, 0)
  if (real !== null && isWithin(real, realRoot)) return { real, path: real.slice(realRoot.length).replace(/^\/+/, '') || '.' }
  if (real !== null && paths.some((folder) => isWithin(real, realOf(resolve(folder), folder, 0) ?? folder))) return { real, path: real }
  throw new Error(`Path is outside the workspace: ${display(path)}`)
}

/** A path as a line of text can carry it: quoted where it holds control characters. */
export const display = (path: string): string => (/\p{Cc}/u.test(path) ? JSON.stringify(path) : path)

/** The error code of a failed file operation (`ENOENT`), or `undefined` for any other thrown value. */
export const codeOf = (error: unknown): string | undefined =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined

const isWithin = (real: string, folder: string): boolean => real === folder || real.startsWith(folder.endsWith(sep) ? folder : folder + sep)

/** The real path, or null for a loop of links. */
function realOf(path: string, given: string, links: number): string | null {
  try {
    return realpathSync.native(path)
  } catch (error) {
    const code = codeOf(error)
    if (code === 'ELOOP' || links > MAX_LINKS) return null
    if (code !== 'ENOENT' && code !== 'ENOTDIR') {
      throw new Error(`Cannot open ${display(given)}: ${code ?? 'unknown error'}`, { cause: error })
    }
  }
  if (dirname(path) === path) return path
  const parent = realOf(dirname(path), given, links)
  if (parent === null) return null
  const target = linkTarget(join(parent, basename(path)))
  if (target === null) return join(parent, basename(path))
  return realOf(isAbsolute(target) ? resolve(target) : resolve(parent, target), given, links + 1)
}

/** Where a dangling link points; null when there is no link. */
function linkTarget(path: string): string | null {
  try {
    return readlinkSync(path)
  } catch {
    return null // no link, or nothing there at all: the name itself is what a write would create
  }
}
