import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs'
import type { Stats } from 'node:fs'

import { codeOf, display } from './confine.ts'
import type { Place } from './confine.ts'

/** Bytes at the start of a file in which a NUL makes it binary: git's own heuristic. */
const BINARY_PROBE_BYTES = 8_000
/** Bytes read at once from a file too large to hold whole. */
const CHUNK_BYTES = 1_048_576
/** The largest index or ignore file that is read. */
const MAX_SUPPORT_BYTES = 268_435_456

/** The file a search had open when its watchdog interrupted it, where no `finally` runs. */
let openNow: number | null = null

/**
 * Opens a regular file, runs `use` and closes it. `O_NONBLOCK` keeps a FIFO or device from hanging the thread, `O_NOFOLLOW` refuses a link
 * put there after the check. Throws for folders, devices and unreadable files, and passes on `ENOENT`.
 */
export function withRegularFile<T>(place: Place, use: (fd: number, size: number) => T): T {
  const fd = openPlain(place)
  openNow = fd
  try {
    const stats = fstatSync(fd)
    if (!stats.isFile()) throw new Error(notRegular(place.path, stats))
    return use(fd, stats.size)
  } finally {
    openNow = null
    closeSync(fd)
  }
}

/**
 * The content of a file that a listing calls regular, read into `scratch` without asking for its size first; null when it does not fit. The
 * bytes are valid until the scratch is used again. A folder or device put there since fails or reads as empty; it cannot hang.
 */
export function readSmallFile(place: Place, scratch: Buffer): Buffer | null {
  const fd = openPlain(place)
  openNow = fd
  try {
    const filled = fill(fd, scratch)
    return filled < scratch.length ? scratch.subarray(0, filled) : null
  } finally {
    openNow = null
    closeSync(fd)
  }
}

/** Closes what an interrupted search left open. */
export function closeInterrupted(): void {
  if (openNow !== null) closeSync(openNow)
  openNow = null
}

/**
 * The content of a file of git's or the user's own, whose path nobody chose; null when it is not there, not regular or above 256 MB. Links
 * are followed: such files may well be links.
 */
export function readIfRegular(path: string): Buffer | null {
  let fd: number | null = null
  try {
    fd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOCTTY)
    const stats = fstatSync(fd)
    return stats.isFile() && stats.size <= MAX_SUPPORT_BYTES ? readBytes(fd, stats.size) : null
  } catch {
    return null // most such files do not exist; one that cannot be read says nothing, as for git
  } finally {
    if (fd !== null) closeSync(fd)
  }
}

/** The first `size` bytes of a file; fewer when it was cut meanwhile. */
export function readBytes(fd: number, size: number): Buffer {
  const bytes = Buffer.allocUnsafe(size)
  const filled = fill(fd, bytes)
  return filled === size ? bytes : bytes.subarray(0, filled)
}

/** A file's bytes in pieces of at most 1 MB, each valid only until the next. */
export function* chunksOf(fd: number, size: number): Generator<Buffer, void, void> {
  const chunk = Buffer.allocUnsafe(Math.min(size, CHUNK_BYTES))
  for (let left = size; left > 0;) {
    const filled = fill(fd, chunk.subarray(0, Math.min(left, chunk.length)))
    if (filled === 0) return
    yield chunk.subarray(0, filled)
    left -= filled
  }
}

export const isBinary = (bytes: Buffer): boolean => bytes.subarray(0, BINARY_PROBE_BYTES).includes(0)

function openPlain({ real, path }: Place): number {
  try {
    return openSync(real, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW | constants.O_NOCTTY)
  } catch (error) {
    const code = codeOf(error)
    if (code === 'ENXIO') throw new Error(`${display(path)} is not a regular file (socket or device)`, { cause: error })
    if (code === 'ENOENT' || code === 'ENOTDIR') throw error
    throw new Error(`Cannot open ${display(path)}: ${code ?? 'unknown error'}`, { cause: error })
  }
}

function notRegular(path: string, stats: Stats): string {
  if (stats.isDirectory()) return `${display(path)} is a folder: use ls or glob`
  return `${display(path)} is not a regular file (${stats.isFIFO() ? 'FIFO' : 'socket or device'})`
}

function fill(fd: number, bytes: Buffer): number {
  let filled = 0
  while (filled < bytes.length) {
    const count = readSync(fd, bytes, filled, bytes.length - filled, null)
    if (count === 0) break
    filled += count
  }
  return filled
}
