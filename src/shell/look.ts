import { realpathSync, statSync } from 'node:fs'

/** What is at a path, links followed; null where nothing is that can be looked at. */
export function look(path: string): { readonly real: string; readonly folder: boolean } | null {
  try {
    const real = realpathSync(path)
    return { real, folder: statSync(real).isDirectory() }
  } catch {
    return null
  }
}
