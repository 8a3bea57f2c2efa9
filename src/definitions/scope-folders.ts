import { readdirSync } from 'node:fs'
import { basename, dirname, join, relative, resolve, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Scope } from '../core/agent-type.ts'
import { judgeName, proposeName } from './type-name.ts'

/** A folder agent files are read from. */
export type ScopeFolder = {
  readonly scope: Scope
  readonly path: string
  readonly trusted: boolean
  readonly root: string
  readonly plugin?: string
}

export type ScopeOptions = {
  /** The project root and the folder the user stands in (SCO-02). */
  readonly root: string
  readonly cwd: string
  /** The main checkout, when `root` is a linked worktree (SCO-03). */
  readonly mainCheckout?: string | null
  /** `$CADRE_HOME` or `~/.cadre`, and the folder that holds `.claude`. */
  readonly home: string
  readonly userHome: string
  readonly managedFolder?: string
  readonly builtInFolder?: string
  /** False: every `.claude` folder is skipped (SCO-04). */
  readonly claudeFolders: boolean
  /** Plugin folders from settings, beside those under `<home>/plugins` (SCO-05). */
  readonly plugins: readonly string[]
  readonly trusted: boolean
}

const MANAGED_FOLDER = '/etc/cadre/agents'
const BUILT_IN_FOLDER = fileURLToPath(new URL('../../agents/', import.meta.url))

/** Where plugins live: each folder below it is one. */
export const pluginsFolder = (home: string): string => join(home, 'plugins')

/** The folders of a root, highest first (SCO-01…05); whether they exist is not asked. Types in code rank between managed and project. */
export function scopeFolders(options: ScopeOptions): readonly ScopeFolder[] {
  const own = { trusted: true, root: options.root }
  const claude = options.claudeFolders
  const personal: ScopeFolder[] = [{ ...own, scope: 'user', path: join(options.home, 'agents') }]
  if (claude) personal.push({ ...own, scope: 'user-claude', path: join(options.userHome, '.claude', 'agents') })
  const managed: ScopeFolder = { ...own, scope: 'managed', path: options.managedFolder ?? MANAGED_FOLDER }
  const taken = new Set([managed, ...personal].map(({ path }) => resolve(path)))
  const project = { scope: 'project', trusted: options.trusted, root: options.root } as const
  return [
    managed,
    // Standing in one's home folder, `~/.claude/agents` is the user's own, not a project's.
    ...projectFolders(options).filter((path) => !taken.has(path)).map((path): ScopeFolder => ({ ...project, path })),
    ...personal,
    ...plugins(options).map((path): ScopeFolder => ({ ...own, scope: 'plugin', path: join(path, 'agents'), plugin: pluginName(path) })),
    { ...own, scope: 'built-in', path: options.builtInFolder ?? BUILT_IN_FOLDER },
  ]
}

/** Every directory from the cwd up to the root, nearest first; then the same ones of the main checkout (SCO-02, SCO-03). */
function projectFolders({ root, cwd, mainCheckout, claudeFolders }: ScopeOptions): readonly string[] {
  const top = resolve(root)
  const inside = relative(top, resolve(cwd))
  const below = inside === '' || inside.startsWith('..') ? [] : inside.split(sep)
  const roots = mainCheckout && resolve(mainCheckout) !== top ? [top, resolve(mainCheckout)] : [top]
  const folders = roots.flatMap((start) => below.map((_, i) => join(start, ...below.slice(0, below.length - i))).concat(start))
  const kinds = claudeFolders ? ['.cadre', '.claude'] : ['.cadre']
  return [...new Set(folders)].flatMap((folder) => kinds.map((kind) => join(folder, kind, 'agents')))
}

function plugins({ home, plugins: listed }: ScopeOptions): readonly string[] {
  return [...new Set([...foldersIn(pluginsFolder(home)), ...listed.map((path) => resolve(path))])]
}

function foldersIn(parent: string): readonly string[] {
  try {
    return readdirSync(parent, { withFileTypes: true })
      .filter((entry) => entry.isDirectory() || entry.isSymbolicLink())
      .map(({ name }) => join(parent, name))
      .toSorted()
  } catch {
    return [] // no plugins
  }
}

/** A folder's name as a part of type names; `agents` itself is named after the folder above. */
function pluginName(path: string): string {
  const name = basename(path) || basename(dirname(path))
  return judgeName(name) === 'refused' ? proposeName(name) : name
}
