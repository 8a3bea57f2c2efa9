import { relative, sep } from 'node:path'

/** A path as a person here would write it: from the folder they stand in, from `~`, else whole. */
export function shortPath(path: string, { cwd, userHome }: { readonly cwd: string; readonly userHome: string }): string {
  const here = relative(cwd, path)
  if (here === '') return '.'
  if (isInside(here)) return here
  const home = relative(userHome, path)
  return isInside(home) && home !== '' ? `~${sep}${home}` : path
}

const isInside = (way: string): boolean => way !== '..' && !way.startsWith(`..${sep}`) && !/^([A-Za-z]:|\\\\|\/)/.test(way)
