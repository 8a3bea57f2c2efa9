import { lstatSync, type Stats } from 'node:fs'

/** What is at a path, links not followed; undefined when nothing is, also because a file is where a folder on the way would be. */
export function lookAt(path: string): Stats | undefined {
  try {
    return lstatSync(path)
  } catch (error) {
    if (error instanceof Error && 'code' in error && (error.code === 'ENOENT' || error.code === 'ENOTDIR')) return undefined
    throw error
  }
}
