import { constants } from 'node:fs'
import { open } from 'node:fs/promises'

/**
 * The bytes of a file the user named. Links are followed. Rejects for what is no regular file, at once: a FIFO or device would be waited for
 * without end, and past Ctrl-C.
 */
export async function readRegularFile(path: string): Promise<Buffer> {
  const handle = await open(path, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOCTTY)
  try {
    const stats = await handle.stat()
    const what = stats.isDirectory() ? 'a folder' : stats.isFIFO() ? 'a FIFO' : 'a device'
    if (!stats.isFile()) throw new Error(`it is ${what}, and only regular files are read`)
    return await handle.readFile()
  } finally {
    await handle.close()
  }
}
