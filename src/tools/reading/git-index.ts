import { join } from 'node:path'

import { readIfRegular } from './regular-file.ts'

/** The paths git tracks in one repository, in byte order. */
export type TrackedPaths = {
  has(path: string): boolean
  /** The tracked paths below a folder. */
  below(folder: string): readonly string[]
}

/** Bytes of an entry before its object id, and the flag that says two more bytes of flags follow. */
const STAT_BYTES = 40
const EXTENDED = 0x4000

const NOTHING: TrackedPaths = { has: () => false, below: () => [] }

/**
 * Reads `.git/index` (versions 2 to 4): git never ignores what it tracks, so the ignore rules need it. An index that cannot be read tracks
 * nothing; of a split index the shared part counts too.
 */
export function readTrackedPaths(gitDir: string, hashBytes: number): TrackedPaths {
  const index = readEntries(join(gitDir, 'index'), hashBytes)
  if (index === null) return NOTHING
  if (index.shared === null) return searchable(index.names)
  const shared = readEntries(join(gitDir, `sharedindex.${index.shared}`), hashBytes)
  const all = [...index.names, ...(shared?.names ?? [])].filter((name) => name.length > 0)
  return searchable(all.toSorted(Buffer.compare))
}

type Entries = { readonly names: readonly Buffer[]; readonly shared: string | null }

function readEntries(file: string, hashBytes: number): Entries | null {
  const bytes = readIfRegular(file)
  if (bytes === null || bytes.length < 12 || bytes.toString('latin1', 0, 4) !== 'DIRC') return null
  const version = bytes.readUInt32BE(4)
  const names: Buffer[] = []
  let at = 12
  let previous = Buffer.alloc(0)
  for (let left = bytes.readUInt32BE(8); left > 0 && at + STAT_BYTES + hashBytes + 2 < bytes.length; left -= 1) {
    const flagsAt = at + STAT_BYTES + hashBytes
    let nameAt = flagsAt + ((bytes.readUInt16BE(flagsAt) & EXTENDED) === 0 ? 2 : 4)
    if (version === 4) {
      const strip = readOffset(bytes, nameAt)
      nameAt = strip.end
      const end = bytes.indexOf(0, nameAt)
      previous = Buffer.concat([previous.subarray(0, previous.length - strip.value), bytes.subarray(nameAt, end)])
      names.push(previous)
      at = end + 1
    } else {
      const end = bytes.indexOf(0, nameAt)
      names.push(bytes.subarray(nameAt, end))
      at += (end - at + 8) & ~7
    }
  }
  return { names, shared: sharedIndex(bytes, at, hashBytes) }
}

/** The variable-width number of index version 4. */
function readOffset(bytes: Buffer, start: number): { readonly value: number; readonly end: number } {
  let at = start
  let byte = bytes[at] ?? 0
  let value = byte & 127
  while ((byte & 128) !== 0) {
    at += 1
    byte = bytes[at] ?? 0
    value = (value + 1) * 128 + (byte & 127)
  }
  return { value, end: at + 1 }
}

/** The name of the shared index an extension `link` points to. */
function sharedIndex(bytes: Buffer, extensionsAt: number, hashBytes: number): string | null {
  for (let at = extensionsAt; at + 8 + hashBytes <= bytes.length;) {
    const size = bytes.readUInt32BE(at + 4)
    if (bytes.toString('latin1', at, at + 4) === 'link') return bytes.toString('hex', at + 8, at + 8 + hashBytes)
    at += 8 + size
  }
  return null
}

function searchable(names: readonly Buffer[]): TrackedPaths {
  const firstFrom = (wanted: Buffer): number => {
    let low = 0
    for (let high = names.length; low < high;) {
      const middle = (low + high) >>> 1
      if (names[middle]?.compare(wanted) === -1) low = middle + 1
      else high = middle
    }
    return low
  }
  return {
    has(path) {
      const wanted = Buffer.from(path)
      return names[firstFrom(wanted)]?.equals(wanted) ?? false
    },
    below(folder) {
      const prefix = Buffer.from(`${folder}/`)
      const found = new Set<string>()
      for (let at = firstFrom(prefix); at < names.length; at += 1) {
        const name = names[at]
        if (name?.subarray(0, prefix.length).equals(prefix) !== true) break
        found.add(name.toString())
      }
      return [...found]
    },
  }
}
