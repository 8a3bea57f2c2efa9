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
  const test = picomatch(anyDepth && !plain.includes('/') ? `**/${plain}` : plain, { dot: true, strictSlashes: true })
  return { base: baseOf(plain), matches: (path) => test(path) }
}

function baseOf(pattern: string): string {
  const { base, glob } = picomatch.scan(pattern)
  if (pattern.startsWith('!') || pattern.includes('\\')) return ''
  return glob === '' ? pattern.split('/').slice(0, -1).join('/') : base
}
