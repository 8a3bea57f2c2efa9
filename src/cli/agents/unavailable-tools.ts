import type { AgentType } from '../../core/agent-type.ts'
import type { Narrowed } from '../../core/narrow.ts'
import { isKnownTool, parseToolEntry, toolsNamed } from '../../core/tool-names.ts'

/** Entries of a type's `tools` whose tools exist in Cadre or in an MCP server, but not in the run above it: nothing removed them. */
export function unavailableTools({ tools }: AgentType, { grant, removed }: Narrowed): readonly string[] {
  const available = [...grant.tools.map(({ name }) => name), ...removed.map(({ tool }) => tool)]
  return (tools ?? []).filter((written) => {
    const { name } = parseToolEntry(written)
    return name !== '*' && isKnownTool(name) && !toolsNamed(name, available).some((tool) => available.includes(tool))
  })
}
