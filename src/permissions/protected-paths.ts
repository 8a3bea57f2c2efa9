import { relative } from 'node:path'
import { asInRoot, isInside } from './place.ts'
import type { Place } from './place.ts'

/** Folders whose content decides what git, Cadre and other agents do (PRM-05). */
const PROTECTED: ReadonlySet<string> = new Set(['.git', '.cadre', '.claude'])

/**
 * Whether a write to one of these paths asks whatever the rules say (PRM-05): one in, or in place of, a protected folder at any depth. Outside
 * the root the whole path counts. The agent's own memory folder is excepted. Cases are not told apart, since some disks do not.
 */
export function isProtected(paths: readonly string[], place: Place, memoryFolder: string | null): boolean {
  return paths.some((path) => {
    if (memoryFolder !== null && isInside(path, memoryFolder)) return false
    const seen = asInRoot(path, place)
    const below = isInside(seen, place.root) ? relative(place.root, seen) : seen
    return below.split(/[/\\]/).some((part) => PROTECTED.has(part.toLowerCase()))
  })
}
