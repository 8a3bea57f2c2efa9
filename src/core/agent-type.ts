import type { Effort } from './contract.ts'
import type { Json, JsonObject } from './json.ts'

/** Where a definition came from, highest first (SCO-01). */
export type Scope = 'managed' | 'code' | 'project' | 'user' | 'user-claude' | 'plugin' | 'built-in'

export type PermissionMode = 'default' | 'acceptEdits' | 'auto' | 'dontAsk' | 'plan' | 'bypassPermissions'

/** A JavaScript program that stands in for a language model (PRG-01). `line` is the Markdown line of its first line of code. */
export type Program = { readonly code: string; readonly line: number }

/** One frozen version of an agent type. Running agents keep theirs through every reload (SCO-10). */
export type AgentType = {
  readonly name: string
  readonly description: string
  /** The body: the role prompt. */
  readonly prompt: string
  /** Content hash (hex) of the version. */
  readonly hash: string
  readonly scope: Scope
  /** The file, or null for types given in code. */
  readonly path: string | null
  /** Whether the place it came from is trusted: else its program gets read-effect tools only (SCO-06). */
  readonly trusted: boolean
  /** `null`: no list, all tools. Entries as written: `Read`, `Bash(npm test *)`, `*`. */
  readonly tools: readonly string[] | null
  readonly disallowedTools: readonly string[]
  /** As written: an alias, an id, `inherit`, `script`; null when absent. */
  readonly model: string | null
  readonly mode: 'explore' | 'build'
  /** `true` cannot be lifted by a call (TYP-10). */
  readonly readOnly: boolean
  readonly program: Program | null
  readonly permissionMode?: PermissionMode
  readonly maxTurns?: number
  readonly timeout?: number
  readonly expectedDuration?: number
  readonly outputSchema?: JsonObject
  readonly effort?: Effort
  readonly background?: boolean
  readonly isolation?: 'worktree'
  readonly color?: string
  readonly initialPrompt?: string
  readonly cacheTtl?: '5m' | '1h'
  readonly omitClaudeMd?: boolean
  readonly autoCompactWindow?: number
  readonly memory?: 'user' | 'project' | 'local'
  readonly skills?: readonly string[]
  readonly hooks?: JsonObject
  readonly mcpServers?: Json
}

/** What two spellings of one type name have in common (TYP-16): no case, spaces, `-`, `_` or `.`. */
export const typeKey = (name: string): string => name.toLowerCase().replaceAll(/[\s\-_.]/g, '')
