import { homedir } from 'node:os'
import { join, resolve } from 'node:path'

/** Where a user's own files are: `home` is `$CADRE_HOME` or `~/.cadre`, `userHome` the folder `~` stands for. Both absolute (SET-03). */
export function userFolder(env: Readonly<Record<string, string | undefined>>): { readonly home: string; readonly userHome: string } {
  const userHome = resolve(env['HOME'] || homedir())
  return { home: resolve(env['CADRE_HOME'] || join(userHome, '.cadre')), userHome }
}
