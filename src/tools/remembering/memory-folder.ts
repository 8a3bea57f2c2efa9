import { join } from 'node:path'
import type { AgentType } from '../../core/agent-type.ts'
import { CadreError } from '../../core/errors.ts'
import type { MemoryFolder } from '../define-tool.ts'

/** Absolute. `root`: the project's, also for an agent in a worktree; `home`: `$CADRE_HOME` or `~/.cadre`; `userHome`: the folder that holds `.claude`. */
export type MemoryPlaces = { readonly root: string; readonly home: string; readonly userHome: string }

/**
 * Where a type keeps its memory (PRO-05); null: it keeps none. Below `base` the way to it may hold no link: a repository must not lead its agents'
 * memory elsewhere. An untrusted type has none (GRA-11).
 */
export function memoryFolder(type: Pick<AgentType, 'name' | 'memory' | 'scope' | 'path' | 'trusted'>, { root, home, userHome }: MemoryPlaces): MemoryFolder | null {
  const { name, memory, trusted } = type
  if (memory === undefined || !trusted) return null
  // The parser lets no such name through; a type made in code has not met it.
  if (name === '' || /^\.{1,2}$|[/\\\0]/.test(name)) throw new CadreError('INVARIANT', `The agent type ${JSON.stringify(name)} has a name that no folder can have`)
  const ofClaude = isOfClaude(type)
  if (memory === 'user') {
    const base = ofClaude ? join(userHome, '.claude') : home
    return { base, path: join(base, 'agent-memory', name) }
  }
  return { base: root, path: join(root, ofClaude ? '.claude' : '.cadre', memory === 'local' ? 'agent-memory-local' : 'agent-memory', name) }
}

/** Whether its file lies in an agents folder of a `.claude`, as opposed to one of a `.cadre` or of a plugin. */
function isOfClaude({ scope, path }: Pick<AgentType, 'scope' | 'path'>): boolean {
  if (scope === 'user-claude') return true
  const folders = [...(path ?? '').matchAll(/[/\\](\.cadre|\.claude)(?=[/\\]agents[/\\])/g)]
  return scope === 'project' && folders.at(-1)?.[1] === '.claude'
}
