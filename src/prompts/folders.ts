import { isAbsolute, join, relative, resolve, sep } from 'node:path'

/** Every folder from the root down to where the user stands; the root alone when that lies elsewhere. */
export function foldersDown(root: string, cwd: string): readonly string[] {
  const top = resolve(root)
  const inside = relative(top, resolve(cwd))
  if (inside === '' || inside === '..' || inside.startsWith(`..${sep}`) || isAbsolute(inside)) return [top]
  const names = inside.split(sep)
  return [top, ...names.map((_, i) => join(top, ...names.slice(0, i + 1)))]
}

/** A path as a heading can carry it: from the root or from `~` where it lies below one, quoted where it holds control characters. */
export function shownPath(path: string, root: string, userHome: string): string {
  const below = (folder: string) => path.startsWith(folder.endsWith(sep) ? folder : folder + sep)
  const shown = below(root) ? relative(root, path) : below(userHome) ? join('~', relative(userHome, path)) : path
  return /\p{Cc}/u.test(shown) ? JSON.stringify(shown) : shown
}
