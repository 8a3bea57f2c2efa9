import { hash } from 'node:crypto'
import { accessSync, closeSync, constants, fstatSync, lstatSync, openSync } from 'node:fs'
import type { Stats } from 'node:fs'
import { codeOf, display } from '../reading/confine.ts'
import { readBytes } from '../reading/regular-file.ts'
import type { Kept } from './replace-file.ts'

/** A larger file is changed by no tool: it is held, hashed and compared whole, on the main thread. */
const CHANGEABLE_BYTES = 16_777_216

/** A file as it is now; `hash` as in `FileRead`. */
export type ExistingFile = { readonly bytes: Buffer; readonly hash: string; readonly kept: Kept }

/**
 * What a tool is about to change; null when there is nothing. `at` is where to open it, `path` its name in messages. Throws for folders, links,
 * FIFOs, sockets, devices and files that are too large.
 */
export function existingFile(at: string, path: string): ExistingFile | null {
  const found = lstatSync(at, { throwIfNoEntry: false })
  if (!found) return null
  refuseIrregular(path, found)
  const fd = open(at, path)
  try {
    const stats = fstatSync(fd)
    refuseIrregular(path, stats)
    if (stats.size > CHANGEABLE_BYTES) throw new Error(`${display(path)} is too large to change: ${stats.size} bytes of at most ${CHANGEABLE_BYTES}. Use a command.`)
    const bytes = readBytes(fd, stats.size)
    return { bytes, hash: hash('sha1', bytes), kept: { mode: stats.mode, uid: stats.uid, gid: stats.gid } }
  } finally {
    closeSync(fd)
  }
}

/** A rename asks for no right to the file it replaces. Throws for one that may not be written. */
export function refuseReadOnly(at: string, path: string): void {
  try {
    accessSync(at, constants.W_OK)
  } catch (error) {
    throw new Error(`${display(path)} is read-only`, { cause: error })
  }
}

function open(at: string, path: string): number {
  try {
    return openSync(at, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW | constants.O_NOCTTY)
  } catch (error) {
    throw new Error(`Cannot open ${display(path)}: ${codeOf(error) ?? 'unknown error'}`, { cause: error })
  }
}

function refuseIrregular(path: string, stats: Stats): void {
  if (stats.isFile()) return
  const what = stats.isDirectory() ? 'a folder' : stats.isSymbolicLink() ? 'a link' : stats.isFIFO() ? 'a FIFO' : 'a socket or device'
  throw new Error(`${display(path)} is ${what}, not a file`)
}
