import { closeSync, constants, fstatSync, lstatSync, openSync, readSync, realpathSync } from 'node:fs'
import { sep } from 'node:path'

/** The largest file that goes into a prompt, in bytes. */
const MAX_BYTES = 262_144

/** Bytes at the start of a file in which a NUL makes it binary: git's own heuristic. */
const BINARY_PROBE_BYTES = 8_000

/** Why a file that is there cannot be used, and what to do. */
export type FileProblem = { readonly message: string; readonly remedy: string }

/**
 * The text of a file a prompt may contain: UTF-8 without BOM, lines ending in LF, no blank lines around it; a problem for one that is there and
 * cannot be used; null when nothing is there. With `within` (a real path) no link may lead out of that folder: a stranger's project would
 * else send the user's own files to a provider. No FIFO or device can hang it.
 */
export function readTextFile(path: string, within: string | null): string | FileProblem | null {
  try {
    if (!lstatSync(path, { throwIfNoEntry: false })) return null
    const real = realpathSync.native(path)
    const folder = within === null ? '' : within.endsWith(sep) ? within : within + sep
    return real.startsWith(folder) ? readRegular(real) : { message: 'is a link out of the project', remedy: 'put the text itself into the project' }
  } catch (error) {
    const code = codeOf(error)
    if (code === 'ENOENT' || code === 'ELOOP') return { message: 'is a link that leads nowhere', remedy: 'mend or remove the link' }
    if (code === 'ENXIO') return NOT_REGULAR
    return { message: `cannot be read (${code ?? 'unknown error'})`, remedy: 'give this user the right to read it, or remove it' }
  }
}

function readRegular(real: string): string | FileProblem {
  const fd = openSync(real, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW | constants.O_NOCTTY)
  try {
    const stats = fstatSync(fd)
    if (stats.isDirectory()) return { message: 'is a folder', remedy: 'put a text file in its place, or rename it' }
    if (!stats.isFile()) return NOT_REGULAR
    if (stats.size > MAX_BYTES) return tooLarge(stats.size)
    const bytes = Buffer.allocUnsafe(MAX_BYTES + 1)
    let filled = 0
    for (let count = 1; count > 0 && filled < bytes.length; filled += count) count = readSync(fd, bytes, filled, bytes.length - filled, null)
    if (filled > MAX_BYTES) return tooLarge(filled)
    if (bytes.subarray(0, Math.min(filled, BINARY_PROBE_BYTES)).includes(0)) return { message: 'is binary', remedy: 'write it as UTF-8 text' }
    return bytes.toString('utf8', 0, filled).replace(/^\uFEFF/, '').replaceAll(/\r\n?/g, '\n').trim()
  } finally {
    closeSync(fd)
  }
}

const tooLarge = (bytes: number): FileProblem =>
  ({ message: `is larger than ${MAX_BYTES} bytes (${bytes})`, remedy: 'shorten it: every agent pays for it' })

const NOT_REGULAR: FileProblem = { message: 'is not a regular file', remedy: 'put a text file in its place, or remove it' }

const codeOf = (error: unknown): string | undefined =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined
