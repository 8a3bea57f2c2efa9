import { posix } from 'node:path'
import picomatch from 'picomatch'
import { asInRoot, isInside } from './place.ts'
import type { Place } from './place.ts'

/** Dot files match like any. Without a leading `!` that would turn "only these" into "all but these". */
const MATCHING = { dot: true, nonegate: true } as const

/** A path specifier of a rule, ready to be matched with absolute paths. `base`: the folder its globs start below. */
type PathPattern = { readonly globs: readonly string[]; readonly base: string; readonly from: 'root' | 'anywhere' }

/**
 * Whether a rule's path specifier covers an absolute path. As in Claude Code's rules and .gitignore: `//etc/x` is absolute, `~/x` in the home
 * folder, `/x`, `./x` and `a/x` start at the root, a bare name is meant at any depth below it, and a folder stands for all that is in it.
 */
export function pathAllowed(specifier: string, path: string, place: Place): boolean {
  const pattern = pathPattern(specifier, place)
  return matches(pattern, pattern.from === 'root' ? asInRoot(path, place) : path, false)
}

/** Whether it could mean the path: as it is or as it would be in the root, and whatever the case, since some disks do not tell cases apart. */
export function pathTouched(specifier: string, path: string, place: Place): boolean {
  const pattern = pathPattern(specifier, place)
  return [path, asInRoot(path, place)].some((each) => matches(pattern, each, true))
}

/** Whether something it covers may lie below a folder, so that a search of the folder could come upon it. */
export function pathTouchedBelow(specifier: string, folder: string, place: Place): boolean {
  const { base } = pathPattern(specifier, place)
  return [folder, asInRoot(folder, place)].some((each) => isInside(each.toLowerCase(), base.toLowerCase()) || isInside(base.toLowerCase(), each.toLowerCase()))
}

const matches = ({ globs }: PathPattern, path: string, nocase: boolean): boolean => globs.some((glob) => picomatch.isMatch(path, glob, { ...MATCHING, nocase }))

function pathPattern(specifier: string, { root, home }: Place): PathPattern {
  if (specifier.startsWith('//')) return under('/', specifier.slice(2), 'anywhere')
  if (specifier.startsWith('~/')) return under(home, specifier.slice(2), 'anywhere')
  const anchored = specifier.replace(/^\.?\/+/, '')
  const bare = specifier === anchored && !anchored.replace(/\/+$/, '').includes('/')
  return under(root, bare && anchored !== '**' && anchored !== '.' ? `**/${anchored}` : anchored, 'root')
}

function under(folder: string, pattern: string, from: PathPattern['from']): PathPattern {
  const trimmed = posix.normalize(pattern.replace(/\/+$/, '') || '.')
  if (trimmed === '..' || trimmed.startsWith('../')) return under(posix.dirname(folder), trimmed.slice(3), 'anywhere')
  const start = escapeGlob(folder === '/' ? '' : folder)
  const whole = trimmed === '.' || trimmed === '**'
  const globs = whole ? [start || '/', `${start}/**`] : [`${start}/${trimmed}`, `${start}/${trimmed}/**`]
  return { globs, base: posix.join(folder, whole ? '.' : literalBase(trimmed)), from }
}

/** The leading folders of a glob that no character in them can change. */
function literalBase(glob: string): string {
  const parts = glob.split('/')
  const first = parts.findIndex((part) => /[\\*?[\]{}()!+@|]/.test(part))
  return first < 0 ? glob : parts.slice(0, first).join('/')
}

const escapeGlob = (path: string): string => path.replaceAll(/[\\*?[\]{}()!+@|$^]/g, '\\$&')
