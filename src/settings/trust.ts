import { realpathSync, statSync } from 'node:fs'
import { homedir } from 'node:os'
import { join, relative, resolve, sep } from 'node:path'
import { CadreError } from '../core/errors.ts'
import { isList } from '../core/json.ts'
import type { Json, JsonObject } from '../core/json.ts'
import { absoluteFolder } from './absolute-folder.ts'
import { editJsonFile } from './edit-json-file.ts'

/** What a change came to: the real path of the root, and the settings file. */
type Trusted = { readonly root: string; readonly file: string; readonly added: boolean }
type Untrusted = { readonly root: string; readonly file: string; readonly removed: boolean; readonly coveredBy: string | null }

/** Whether `root` is one of `trustedRoots` or lies below one, by real path (SCO-07). A folder that does not exist trusts nothing. */
export const isTrustedRoot = (root: string, trustedRoots: readonly string[]): boolean => coveringRoot(root, trustedRoots) !== null

/** The entry of `trustedRoots` that covers `root`, null when none does. */
export function coveringRoot(root: string, trustedRoots: readonly string[]): string | null {
  const real = realPath(root)
  if (real === null) return null
  return trustedRoots.find((entry) => {
    const trusted = realPath(entry)
    return trusted !== null && covers(trusted, real)
  }) ?? null
}

/**
 * Adds the real path of `path` to `trustedRoots` of the user's settings. `added` is false when it was there. Rejects with CadreError
 * NOT_FOUND when `path` is no folder, SETTINGS when the settings file cannot be edited.
 */
export async function trustRoot(home: string, path: string): Promise<Trusted> {
  const root = realPath(path)
  if (root === null || !statSync(root).isDirectory()) {
    throw new CadreError('NOT_FOUND', `No such folder: ${resolve(path)}. Only a folder can be trusted.`)
  }
  const file = settingsFile(home)
  let added = false
  await editJsonFile(file, (settings) => {
    const roots = rootsIn(settings, file)
    added = !roots.some((entry) => folderOf(entry, home) === root)
    return added ? { ...settings, trustedRoots: [...roots, root] } : null
  })
  return { root, file, added }
}

/**
 * Takes every spelling of `path` out of `trustedRoots` of the user's settings; works for a folder that no longer exists. `coveredBy` is
 * an entry of that file that still covers it. Rejects with CadreError SETTINGS when the settings file cannot be edited.
 */
export async function untrustRoot(home: string, path: string): Promise<Untrusted> {
  const root = realPath(path) ?? resolve(path)
  const file = settingsFile(home)
  let removed = false
  let left: readonly string[] = []
  await editJsonFile(file, (settings) => {
    const roots = rootsIn(settings, file)
    const kept = roots.filter((entry) => folderOf(entry, home) !== root)
    left = kept.flatMap((entry) => folderOf(entry, home) ?? [])
    removed = kept.length < roots.length
    return removed ? { ...settings, trustedRoots: kept } : null
  })
  return { root, file, removed, coveredBy: coveringRoot(root, left) }
}

const settingsFile = (home: string): string => join(home, 'settings.json')

function rootsIn(settings: JsonObject, file: string): readonly Json[] {
  const roots = settings['trustedRoots'] ?? []
  if (!isList(roots)) throw new CadreError('SETTINGS', `"trustedRoots" in ${file} is no list. Mend it, then try again.`)
  return roots
}

/** The real path of an entry as written by hand; as written where it does not exist, null for what is no text. */
function folderOf(entry: Json, home: string): string | null {
  if (typeof entry !== 'string') return null
  const folder = absoluteFolder(entry, home, homedir())
  return realPath(folder) ?? resolve(folder)
}

function covers(trusted: string, real: string): boolean {
  const way = relative(trusted, real)
  return way === '' || (way !== '..' && !way.startsWith(`..${sep}`) && resolve(trusted, way) === real)
}

function realPath(path: string): string | null {
  try {
    return realpathSync.native(path)
  } catch {
    return null
  }
}
