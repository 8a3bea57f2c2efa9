import { open, rename, rm } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { cannotWrite } from './cannot-write.ts'

/** Pieces are collected to this many characters: a write of its own for each would cost more than all the rest. */
const CHUNK_CHARS = 256 * 1024

/** Where a file grows until it is whole: beside it, under one name, so that what a kill left is overwritten. */
export const unfinishedName = (name: string): string => `.${name}.new`

/** Writes a file piece by piece so that readers see the old one or the whole new one, never a part. Rejects when the disk does. */
export async function writeAtomically(path: string, pieces: AsyncIterable<string>): Promise<void> {
  const unfinished = join(dirname(path), unfinishedName(basename(path)))
  const handle = await open(unfinished, 'w').catch((error: unknown) => {
    throw cannotWrite(path, error)
  })
  try {
    await handle.writeFile(inChunks(pieces))
    await handle.close()
    await rename(unfinished, path)
  } catch (error) {
    await handle.close().catch(() => undefined) // closed already, when the rename failed
    await rm(unfinished, { force: true })
    throw cannotWrite(path, error)
  }
}

async function* inChunks(pieces: AsyncIterable<string>): AsyncIterable<string> {
  let chunk = ''
  for await (const piece of pieces) {
    chunk += piece
    if (chunk.length < CHUNK_CHARS) continue
    yield chunk
    chunk = ''
  }
  yield chunk
}
