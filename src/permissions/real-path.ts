import { lstatSync, readlinkSync, realpathSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'

/** Links followed through parts that do not exist: more is a loop. */
const MOST_LINKS = 40

/**
 * Where a path really leads, also when its last parts do not exist yet: the real path of what exists, links that lead nowhere included, and
 * the rest. A loop of links, or a folder that cannot be looked into, is the path as given: whoever opens it fails there.
 */
export function realPath(path: string, links = MOST_LINKS): string {
  try {
    return realpathSync.native(path)
  } catch {
    const above = dirname(path)
    const target = links > 0 ? linkTarget(path) : undefined
    if (target !== undefined) return realPath(resolve(realPath(above, links - 1), target), links - 1)
    return above === path ? path : join(realPath(above, links), basename(path))
  }
}

function linkTarget(path: string): string | undefined {
  try {
    return lstatSync(path).isSymbolicLink() ? readlinkSync(path) : undefined
  } catch {
    return undefined // nothing there, so no link
  }
}
