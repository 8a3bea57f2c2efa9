import { join, relative } from 'node:path'
import type { Grant } from '../../src/core/grant.ts'
import { KEY_PLACES, MACHINE_KEYS, SOCKET_PLACES } from './key-places.ts'

/** `none`: neither read nor written. `scratch`: an empty folder of its own for each call. */
export type Access = 'none' | 'read' | 'write' | 'scratch'

/** What is put where a rule's path is not, so that nobody else can: nothing, an empty folder, or a file with this text. */
export type Placeholder = 'nothing' | 'folder' | { readonly file: string }

/**
 * What may be done with a path and all below it. Of two rules the deeper one decides. `pinned`: it lies in what the agent may write, so a
 * link there is refused, which it could turn elsewhere.
 */
export type Rule = { readonly path: string; readonly access: Access; readonly placeholder: Placeholder; readonly pinned: boolean }

/** What the kernel holds a shell to, as plain data. Whatever no rule names can be read only. */
export type ShellPolicy = { readonly root: string; readonly tmp: string; readonly network: boolean; readonly rules: readonly Rule[] }

/** A linked worktree: all absolute, real paths. */
export type LinkedWorktree = {
  readonly mainCheckout: string
  readonly commonDir: string
  /** Its own folder in `commonDir/worktrees`. */
  readonly gitDir: string
  /** Its own branch, `refs/heads/cadre/x`; null when its HEAD is on none. */
  readonly branch: string | null
  /** That of the main checkout, which an agent cannot move while it is a file of its own. */
  readonly mainBranch: string | null
}

/** What a policy must know of the place: absolute, real paths. */
export type ShellPlace = {
  readonly home: string
  /** A folder of this agent alone. It is `/tmp` to the shell on Linux. */
  readonly tmp: string
  /** `XDG_RUNTIME_DIR`. */
  readonly runtimeDir: string | null
  /** Further files and folders nobody may see: the `.env` of the root, say. */
  readonly hidden: readonly string[]
  /** `own`: the root has a `.git` folder. `none`: it has not, or in a form no linked worktree has. */
  readonly git: 'own' | 'none' | LinkedWorktree
}

/**
 * The rules for an agent's shell, from its grant alone (SHL-01, 02, 03): the root is writable if its bash has execute effect, which the
 * confined one of an explorer has not; the network is there if it has a network tool besides.
 */
export function policyOf(grant: Grant, place: ShellPlace): ShellPolicy {
  const { root, tools } = grant
  const writes = grant.mode !== 'plan' && tools.some(({ name, effect }) => name === 'bash' && effect === 'execute')
  const within = (path: string): boolean => !relative(root, path).startsWith('..')
  const none = (path: string): Rule => ({ path, access: 'none', placeholder: writes && within(path) ? 'folder' : 'nothing', pinned: false })
  const keys = KEY_PLACES.map((name) => join(place.home, name))
  const sockets = [...SOCKET_PLACES, ...(place.runtimeDir === null ? [] : [place.runtimeDir])]
  return {
    root,
    tmp: place.tmp,
    network: writes && tools.some(({ effect }) => effect === 'network'),
    rules: [
      ...[...keys, ...MACHINE_KEYS, ...sockets, ...place.hidden].map(none),
      ...grant.paths.filter((path) => !within(path)).map(shown),
      ...(typeof place.git === 'object' ? [shown(place.git.mainCheckout), shown(place.git.commonDir)] : []),
      ...(writes ? [writable(root), ...rootRules(root), ...gitRules(root, place.git)] : [shown(root)]),
    ],
  }
}

const shown = (path: string): Rule => ({ path, access: 'read', placeholder: 'nothing', pinned: false })
const writable = (path: string): Rule => ({ path, access: 'write', placeholder: 'nothing', pinned: true })
const fixed = (path: string, placeholder: Placeholder = 'nothing'): Rule => ({ path, access: 'read', placeholder, pinned: true })

const rootRules = (root: string): readonly Rule[] => ['.cadre', '.claude'].map((name) => fixed(join(root, name), 'folder'))

/** Where a program could be named that git runs later, for somebody else and outside. */
function gitRules(root: string, git: ShellPlace['git']): readonly Rule[] {
  const dotGit = join(root, '.git')
  if (git === 'none') return [fixed(dotGit, 'folder')]
  if (git !== 'own') return [fixed(dotGit), ...worktreeRules(git)]
  return [
    // A rule of its own, so that it cannot be moved away with all that is fixed in it.
    writable(dotGit),
    fixed(join(dotGit, 'config')),
    fixed(join(dotGit, 'config.worktree'), { file: '' }),
    // Names the folder of hooks and config. An empty one would be an error to git; this one says what is so without it.
    fixed(join(dotGit, 'commondir'), { file: '.\n' }),
    ...['hooks', 'info', 'modules', 'worktrees', 'objects/info'].map((name) => fixed(join(dotGit, name), 'folder')),
  ]
}

function worktreeRules({ commonDir, gitDir, branch, mainBranch }: LinkedWorktree): readonly Rule[] {
  const logs = join(commonDir, 'logs')
  return [
    writable(join(commonDir, 'objects')),
    fixed(join(commonDir, 'objects/info'), 'folder'),
    writable(join(commonDir, 'refs')),
    ...(mainBranch === null ? [] : [fixed(join(commonDir, mainBranch))]),
    // A link in the place of another branch's log would be written through by the next git outside.
    { path: logs, access: 'scratch', placeholder: 'folder', pinned: true },
    ...(branch === null ? [] : [{ ...writable(join(logs, branch)), placeholder: { file: '' } }]),
    writable(gitDir),
    { ...writable(join(gitDir, 'logs/HEAD')), placeholder: { file: '' } },
    fixed(join(gitDir, 'commondir')),
    fixed(join(gitDir, 'gitdir')),
    fixed(join(gitDir, 'config.worktree'), { file: '' }),
    fixed(join(gitDir, 'modules'), 'folder'),
  ]
}
