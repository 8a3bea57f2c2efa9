import { statSync } from 'node:fs'
import { posix, relative, resolve } from 'node:path'
import picomatch from 'picomatch'
import type { Grant, GrantedTool } from '../core/grant.ts'
import type { JsonObject } from '../core/json.ts'
import { commandAllowed } from './command-pattern.ts'
import { domainAllowed } from './domain-pattern.ts'
import { pathsBehind } from './place.ts'
import { kindOf } from './specifier-kind.ts'

/** As globs of the read tools: dot files match like any. Without a leading `!` that would turn "only these" into "all but these". */
const MATCHING = { dot: true, nonegate: true } as const
/** These look into every folder below the one they are given. */
const RECURSIVE: readonly string[] = ['glob', 'grep']
/** Stands for whatever lies deep in a folder: a specifier that covers it covers everything there. */
const ANYTHING_BELOW = '\u0001/\u0001'

/**
 * Whether a call passes every layer of a granted tool's specifiers (GRA-04). A path tool is matched by the path it names and by the real path
 * behind it, both relative to the root: a symlink inside the granted folder does not lead out of it. A search of a folder needs a specifier
 * that covers all of it. A shell command passes as it does allow rules: by every part. Which types `agent` may start is in the grant itself.
 */
export function allows(tool: GrantedTool, input: JsonObject, grant: Grant): boolean {
  if (tool.only.length === 0) return true
  switch (kindOf(tool.name)) {
    case 'path':
      return pathPasses(tool, input, grant.root)
    case 'command': {
      const { command } = input
      return typeof command === 'string' && tool.only.every((layer) => commandAllowed(layer, command))
    }
    case 'domain': {
      const { url } = input
      return typeof url === 'string' && tool.only.every((layer) => layer.some((specifier) => domainAllowed(specifier, url)))
    }
    case 'type':
    case 'none':
      return false
  }
}

function pathPasses(tool: GrantedTool, input: JsonObject, root: string): boolean {
  if (leavesItsFolder(tool.name, input)) return false
  const paths = reachedPaths(tool.name, input, root)
  return tool.only.every((layer) => paths.every((path) => layer.some((specifier) => covers(specifier, path))))
}

/** A glob that climbs would reach past the path the specifier was matched with. In `grep`, `pattern` is no glob. */
function leavesItsFolder(tool: string, input: JsonObject): boolean {
  const glob = input[tool === 'glob' ? 'pattern' : 'glob']
  return typeof glob === 'string' && glob.split(/[/\\]/).includes('..')
}

function reachedPaths(tool: string, input: JsonObject, root: string): readonly string[] {
  const given = typeof input['path'] === 'string' ? input['path'] : '.'
  const named = pathsBehind(given, root).map((path) => posix.normalize(relative(root, path) || '.'))
  return RECURSIVE.includes(tool) && isFolder(resolve(root, given)) ? named.flatMap((path) => [path, posix.join(path, ANYTHING_BELOW)]) : named
}

function isFolder(path: string): boolean {
  try {
    return statSync(path).isDirectory()
  } catch {
    return false // nothing a search could look into; the tool itself says what is wrong
  }
}

function covers(specifier: string, path: string): boolean {
  if (path === '..' || path.startsWith('../')) return false
  const pattern = specifier.replace(/^\.\//, '')
  // The root is the folder that `**` is everything of, as `src` is that of `src/**`.
  return picomatch.isMatch(path, pattern, MATCHING) || (pattern === '**' && path === '.')
}
