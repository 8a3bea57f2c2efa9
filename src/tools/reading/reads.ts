import { hash } from 'node:crypto'
import { readdirSync } from 'node:fs'
import { resolve } from 'node:path'

import type { FileRead } from '../../core/contract.ts'
import { readIfRegular } from './regular-file.ts'

/** Files and folders an outcome names as its ground; an outcome that rests on more names none. */
const MAX_READS = 1_000

/**
 * Collects what an outcome rests on: contents of files, .gitignore files among them, and listings of folders, whose path then ends in `/`.
 * Paths are relative to the root, or absolute where they lie outside.
 */
export class ReadLog {
  readonly #reads = new Map<string, string>()
  #full = false

  /** A file's whole content. */
  add(path: string, bytes: Buffer): void {
    if (this.#open(path)) this.#reads.set(path, hash('sha1', bytes))
  }

  addHash(path: string, contentHash: string): void {
    if (this.#open(path)) this.#reads.set(path, contentHash)
  }

  /** The names in a folder, in any order. */
  addListing(path: string, names: readonly string[]): void {
    const key = path === '.' ? './' : `${path}/`
    if (this.#open(key)) this.#reads.set(key, hashNames(names))
  }

  /** All of it; undefined when that was too much to list, so nobody takes a part for the whole. */
  result(): readonly FileRead[] | undefined {
    return this.#full ? undefined : [...this.#reads].map(([path, contentHash]) => ({ path, hash: contentHash }))
  }

  #open(path: string): boolean {
    if (!this.#full && this.#reads.size === MAX_READS && !this.#reads.has(path)) {
      this.#full = true
      this.#reads.clear()
    }
    return !this.#full
  }
}

/**
 * The hash a `FileRead` of this path would carry now: of a file's content, or of the names in a folder when the path ends in `/`.
 * Null when it cannot be read. Equal hashes mean the outcome that named it would come out the same.
 */
export function hashFile(root: string, path: string): string | null {
  try {
    if (path.endsWith('/')) return hashNames(readdirSync(resolve(root, path)))
    const bytes = readIfRegular(resolve(root, path))
    return bytes && hash('sha1', bytes)
  } catch {
    return null // gone, or no longer to be read: not what it was
  }
}

const hashNames = (names: readonly string[]): string => hash('sha1', names.filter((name) => name !== '.git').toSorted().join('\0'))
