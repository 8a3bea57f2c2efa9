import { homedir } from 'node:os'
import { dirname, join, resolve } from 'node:path'

import { readIfRegular } from './regular-file.ts'

/** What the ignore rules and the index need to know of git's configuration. */
export type GitConfig = { readonly excludesFile: string; readonly ignoreCase: boolean; readonly hashBytes: number }

const MAX_INCLUDES = 10

/** Reads the system's, the user's and the repository's configuration, later ones winning. Conditional includes are not followed. */
export function readGitConfig(commonDir: string): GitConfig {
  const home = homedir()
  const values = new Map<string, string>()
  const files = ['/etc/gitconfig', join(home, '.config/git/config'), join(home, '.gitconfig'), join(commonDir, 'config')]
  for (const file of files) readInto(values, file, home, 0)
  return {
    excludesFile: fromHome(values.get('core.excludesfile') ?? join(home, '.config/git/ignore'), home),
    ignoreCase: isTrue(values.get('core.ignorecase')),
    hashBytes: values.get('extensions.objectformat') === 'sha256' ? 32 : 20,
  }
}

function readInto(values: Map<string, string>, file: string, home: string, depth: number): void {
  const text = readIfRegular(file)?.toString('utf8') ?? ''
  let section = ''
  for (const line of text.replaceAll(/\\\r?\n/g, '').split('\n')) {
    const header = /^\s*\[\s*([\w.-]+)\s*("(?:[^"\\]|\\.)*")?\s*\](.*)$/.exec(line)
    if (header) section = header[2] === undefined ? (header[1] ?? '').toLowerCase() : ''
    const entry = /^\s*([a-z][\w-]*)\s*(?:=(.*))?$/i.exec(header ? (header[3] ?? '') : line)
    if (!entry || section === '') continue
    const name = `${section}.${(entry[1] ?? '').toLowerCase()}`
    const value = entry[2] === undefined ? 'true' : unquote(entry[2])
    if (name === 'include.path' && depth < MAX_INCLUDES) readInto(values, resolve(dirname(file), fromHome(value, home)), home, depth + 1)
    else values.set(name, value)
  }
}

/** A value without its quotes, escapes and comment. */
function unquote(written: string): string {
  let value = ''
  let quoted = false
  for (let at = 0; at < written.length; at += 1) {
    const char = written.charAt(at)
    if (char === '"') quoted = !quoted
    else if (char === '\\') value += written.charAt(at += 1)
    else if (!quoted && (char === '#' || char === ';')) break
    else value += char
  }
  return value.trim()
}

const fromHome = (path: string, home: string): string => (path.startsWith('~/') ? join(home, path.slice(2)) : path)

const isTrue = (value: string | undefined): boolean => value !== undefined && /^(?:true|yes|on|1)$/i.test(value)
