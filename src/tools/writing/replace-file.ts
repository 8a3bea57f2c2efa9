import { randomUUID } from 'node:crypto'
import { closeSync, constants, fchmodSync, fchownSync, fsyncSync, linkSync, openSync, renameSync, rmSync, writeSync } from 'node:fs'
import { codeOf } from '../reading/confine.ts'
import type { AnchoredFolder } from './anchored-folder.ts'

/** What a new file may allow, before the user's umask. */
const NEW_FILE_MODE = 0o666
const MODE_BITS = 0o7777

/** File systems without hard links say one of these. */
const NO_LINKS = ['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK']

/** What of the old file the new one keeps. */
export type Kept = { readonly mode: number; readonly uid: number; readonly gid: number }

/**
 * Puts a file of these bytes in place, so that readers see the old one or the whole new one. `kept` null: a new file, and `EEXIST` is thrown when
 * something has that name by now, whatever made it. Else `stillSame` is asked once all is on disk, right before the rename, and may throw: between
 * its answer and the rename lies no other work of this process, and of others' only what fits in between.
 */
export function replaceFile(folder: AnchoredFolder, name: string, bytes: Buffer, kept: Kept | null, stillSame: () => void): void {
  // In one name of fixed length: the file's own may be as long as names can be.
  const unfinished = folder.at(`.cadre-${randomUUID()}.new`)
  const fd = openSync(unfinished, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW, kept === null ? NEW_FILE_MODE : 0o600)
  try {
    try {
      for (let written = 0; written < bytes.length;) written += writeSync(fd, bytes, written)
      if (kept) keep(fd, kept)
      fsyncSync(fd)
    } finally {
      closeSync(fd)
    }
    if (kept) {
      stillSame()
      renameSync(unfinished, folder.at(name))
    } else {
      create(unfinished, folder.at(name), stillSame)
    }
  } finally {
    rmSync(unfinished, { force: true })
  }
}

function keep(fd: number, { mode, uid, gid }: Kept): void {
  try {
    fchownSync(fd, uid, gid)
  } catch (error) {
    if (codeOf(error) !== 'EPERM') throw error // another's file in a folder of ours: its owner changes, as with any editor that saves so
  }
  fchmodSync(fd, mode & MODE_BITS) // last: a change of owner takes setuid away
}

/** A second name is refused where one exists, which no check before a rename can promise. */
function create(unfinished: string, path: string, stillSame: () => void): void {
  try {
    linkSync(unfinished, path)
  } catch (error) {
    if (!NO_LINKS.includes(codeOf(error) ?? '')) throw error
    stillSame()
    renameSync(unfinished, path)
  }
}
