import type { Scope } from '../core/agent-type.ts'

/** Where a definition stands, and so how far it is trusted (SCO-05, SCO-06). */
export type Place = {
  /** The file, or what the definition came in with (`--agents`). */
  readonly path: string
  readonly scope: Scope
  /** Whether its root is trusted. Counts for scope `project` only: every other scope is the user's own. */
  readonly trusted: boolean
  readonly root: string
  /** The plugin's name, for scope `plugin`. */
  readonly plugin?: string
}
