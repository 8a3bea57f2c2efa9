import { readFileSync } from 'node:fs'
import { findPackageJSON } from 'node:module'
import { isObject } from './core/json.ts'

/** The version of this package, as its package.json says; it is found from the source and from the build alike. */
export const VERSION: string = read()

function read(): string {
  const file = findPackageJSON(import.meta.url)
  const data: unknown = file === undefined ? null : JSON.parse(readFileSync(file, 'utf8'))
  return isObject(data) && typeof data['version'] === 'string' ? data['version'] : 'unknown'
}
