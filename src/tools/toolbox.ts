import type { ToolCall, ToolSchema } from '../core/contract.ts'
import type { ToolFacts } from '../core/grant.ts'
import type { JsonObject } from '../core/json.ts'
import { toolsNamed } from '../core/tool-names.ts'
import type { Tool } from './define-tool.ts'

/** The tools there are, by name. */
export type Toolbox = {
  readonly facts: readonly ToolFacts[]
  find(name: string): Tool | undefined
  /** What a model is shown: exactly the tools of these names (GRA-09), in the toolbox's order, so byte-equal over runs (MOD-07). */
  schemas(names: readonly string[]): readonly ToolSchema[]
  /** A call's tool, and its checked input or the sentence that says what is wrong with it. */
  check(call: ToolCall): { readonly tool: Tool; readonly input: JsonObject } | { readonly error: string }
}

export function createToolbox(tools: readonly Tool[]): Toolbox {
  const byName = new Map(tools.map((tool) => [tool.name, tool]))
  const available = [...byName.keys()]
  // A model trained on other names may call `Grep` for `grep`: the one table of names decides. A pattern of lists (`*`) calls nothing.
  const find = (name: string) => byName.get(name) ?? (name.includes('*') ? undefined : byName.get(toolsNamed(name, available)[0] ?? ''))
  return {
    facts: tools.map(({ name, effect }) => ({ name, effect })),
    find,
    schemas: (names) => tools.filter(({ name }) => names.includes(name)).map(({ schema }) => schema),
    check(call) {
      const tool = find(call.name)
      if (!tool) return { error: `Unknown tool ${call.name}. Available: ${available.join(', ')}.` }
      const checked = tool.check(call.input)
      return 'error' in checked ? { error: `Error: ${tool.name}: ${checked.error}` } : { tool, input: checked.input }
    },
  }
}
