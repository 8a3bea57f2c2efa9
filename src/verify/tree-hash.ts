import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { lstat, readdir, readlink } from 'node:fs/promises'
import { join, relative, resolve } from 'node:path'
import { pipeline } from 'node:stream/promises'

/** Changed files as they are now. */
export type Tree = {
  /** Distinct paths relative to the root, in order. */
  readonly files: readonly string[]
  readonly gone: ReadonlySet<string>
  /** Of all their contents (hex): equal as long as nothing changed (VER-06). */
  readonly hash: string
}

/** Looks at changed files, however their paths are spelled. Links are not followed, big files not held; it rejects for nothing it finds. */
export async function treeHash(root: string, changed: readonly string[]): Promise<Tree> {
  const files = [...new Set(changed.map((file) => relative(root, resolve(root, file))))].filter((file) => file !== '').toSorted()
  const gone = new Set<string>()
  const hash = createHash('sha256')
  for (const file of files) {
    const state = await stateOf(join(root, file))
    if (state === GONE) gone.add(file)
    hash.update(`${JSON.stringify([file, state])}\n`)
  }
  return { files, gone, hash: hash.digest('hex') }
}

const GONE = 'gone'

/** A text that differs whenever the file does. */
async function stateOf(path: string): Promise<string> {
  try {
    const stats = await lstat(path)
    if (stats.isSymbolicLink()) return `link ${await readlink(path)}`
    if (stats.isDirectory()) return `folder ${await folderHash(path)}`
    // Reading a pipe or a device might never end.
    return stats.isFile() ? `file ${stats.mode & 0o111} ${await fileHash(path)}` : 'special'
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown'
    return code === 'ENOENT' || code === 'ENOTDIR' ? GONE : `unreadable ${code}`
  }
}

async function fileHash(path: string): Promise<string> {
  const hash = createHash('sha256')
  await pipeline(createReadStream(path), hash)
  return hash.digest('hex')
}

async function folderHash(path: string): Promise<string> {
  const hash = createHash('sha256')
  for (const name of (await readdir(path)).toSorted()) hash.update(`${JSON.stringify([name, await stateOf(join(path, name))])}\n`)
  return hash.digest('hex')
}
