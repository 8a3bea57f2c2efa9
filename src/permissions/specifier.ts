import { realpathSync } from 'node:fs'
import { matchesGlob, posix, relative, resolve } from 'node:path'
import type { Grant, GrantedTool } from '../core/grant.ts'
import type { JsonObject } from '../core/json.ts'

/**
 * Whether a call passes every layer of a granted tool's specifiers (GRA-04). A path tool is matched by the path it names and by the real path
 * behind it, both relative to the root: a symlink inside the granted folder does not lead out of it.
 */
export function allows(tool: GrantedTool, input: JsonObject, grant: Grant): boolean {
  if (tool.only.length === 0) return true
  if (tool.effect !== 'read' || leavesItsFolder(input)) return false
  const paths = namedPaths(input, grant.root)
  return tool.only.every((layer) => paths.every((path) => layer.some((specifier) => covers(specifier, path))))
}

/** A `glob` or `pattern` that climbs would reach past the path the specifier was matched with. */
const leavesItsFolder = (input: JsonObject): boolean =>
  ['glob', ...(typeof input['glob'] === 'string' ? [] : ['pattern'])].some((field) => {
    const value = input[field]
    return typeof value === 'string' && value.split(/[/\\]/).includes('..')
  })

function namedPaths(input: JsonObject, root: string): readonly string[] {
  const absolute = resolve(root, typeof input['path'] === 'string' ? input['path'] : '.')
  return [...new Set([absolute, realPath(absolute)])].map((path) => posix.normalize(relative(root, path) || '.'))
}

function realPath(path: string): string {
  try {
    return realpathSync(path)
  } catch {
    return path // a path that does not exist yet has no other real path; the tool itself says that it is missing
  }
}

function covers(specifier: string, path: string): boolean {
  if (path.startsWith('..')) return false
  const pattern = specifier.replace(/^\.\//, '')
  return matchesGlob(path, pattern) || (pattern.endsWith('/**') && path === pattern.slice(0, -3))
}
