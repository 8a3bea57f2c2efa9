import { posix, relative, resolve } from 'node:path'
import { realPath } from './real-path.ts'

/** Where an agent works, as absolute real paths: rules are written for the root run's `root`; `worktree` is the agent's own, or null. */
export type Place = { readonly root: string; readonly worktree: string | null; readonly home: string }

/** The folder relative paths of calls start in. */
export const workingRoot = ({ root, worktree }: Place): string => worktree ?? root

/** Whether a path is a folder or lies in it. Both absolute and normal. */
export function isInside(path: string, folder: string): boolean {
  const below = relative(folder, path)
  return below === '' || (below !== '..' && !below.startsWith(`..${posix.sep}`) && !below.startsWith('/'))
}

/** The path a call names and the one really behind it, absolute; one when they are the same. */
export function pathsBehind(path: string, start: string): readonly string[] {
  const named = resolve(start, path)
  return [...new Set([named, realPath(named)])]
}

/** A path of a worktree as the path it has in the root (PRM-03); any other stays. */
export function asInRoot(path: string, { root, worktree }: Place): string {
  return worktree !== null && isInside(path, worktree) ? resolve(root, relative(worktree, path)) : path
}
