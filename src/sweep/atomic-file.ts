import { open, rename, rm } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'

/** Writes a file piece by piece so that readers see the old one or the whole new one, never a part. */
export async function writeAtomically(path: string, pieces: Iterable<string> | AsyncIterable<string>): Promise<void> {
  const unfinished = join(dirname(path), `.${basename(path)}.new`)
  const handle = await open(unfinished, 'w')
  try {
    await handle.writeFile(pieces)
    await handle.close()
    await rename(unfinished, path)
  } catch (error) {
    await handle.close().catch(() => undefined) // closed already, when the rename failed
    await rm(unfinished, { force: true })
    throw error
  }
}
