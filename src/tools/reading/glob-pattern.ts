import picomatch from 'picomatch'

import { display } from './confine.ts'

/** A glob split into the folder every match lies in and a test for paths below that folder. */
export type GlobPattern = { readonly base: string; matches(path: string): boolean }

/**
 * Compiles a glob (`*`, `**`, `?`, `[…]`, `{a,b}`, `!(…)`); dot files match like any. Throws for a pattern that leaves its folder.
 * `anyDepth`: a pattern without a slash matches names in every folder.
 */
export function globPattern(pattern: string, { anyDepth = false }: { readonly anyDepth?: boolean } = {}): GlobPattern {
  const plain = pattern.replace(/^(?:\.\/+)+/, '')
  if (plain === '') throw new Error('pattern must not be empty')
  if (plain.startsWith('/') || plain.split('/').includes('..')) throw new Error(`Path is outside the workspace: ${display(pattern)}`)
  const { base, glob } = picomatch.scan(plain)
  const test = picomatch(anyDepth && !plain.includes('/') ? `**/${plain}` : plain, { dot: true, strictSlashes: true })
  const isPath = glob === ''
  return { base: isPath || plain.startsWith('!') || base.includes('\\') ? parentOf(isPath ? plain : '') : base, matches: (path) => test(path) }
}

const parentOf = (path: string): string => path.split('/').slice(0, -1).join('/')
