import { isAbsolute, join, resolve } from 'node:path'

/** A folder as written in settings: `~/` is the user's home, a relative one starts at `folder`. */
export function absoluteFolder(written: string, folder: string, userHome: string): string {
  if (isAbsolute(written)) return written
  return /^~(?=$|[/\\])/.test(written) ? join(userHome, written.slice(1)) : resolve(folder, written)
}
