import type { AgentType } from '../core/agent-type.ts'

/** Fields that are read and checked, and take effect in a later version. Remove a row when its feature is in. */
const DEFERRED: readonly { readonly field: keyof AgentType; readonly note: string }[] = [
  { field: 'hooks', note: 'hooks are checked, but not run yet' },
  { field: 'mcpServers', note: 'MCP servers are checked, but not connected yet' },
]

/** The fields of a type that have no effect yet, each with what to tell its author. */
export const deferredFields = (type: AgentType): readonly { readonly field: string; readonly note: string }[] =>
  DEFERRED.filter(({ field }) => type[field] !== undefined)
