import type { Effect } from '../core/contract.ts'
import type { JsonObject } from '../core/json.ts'
import { kindOf } from './specifier-kind.ts'
import type { SpecifierKind } from './specifier-kind.ts'

/** One call as rules see it: the tool's own name, what it can do, and its checked input. */
export type ToolUse = {
  readonly tool: string
  readonly effect: Effect
  readonly input: JsonObject
  /** A tool of the host application or an MCP server: the table of names never leads to it (GRA-03). */
  readonly foreign?: boolean
  /** Of a delegation: the canonical name of the type it comes to, however it was asked for (PRM-04). */
  readonly agentType?: string
}

/** A text of the input; `fallback` when the model left it out. */
export function textOf({ input }: ToolUse, field: string, fallback = ''): string {
  const value = input[field]
  return typeof value === 'string' ? value : fallback
}

/** What its specifiers are about; a foreign tool has none that we know of, whatever its name. */
export const kindOfUse = ({ tool, foreign = false }: ToolUse): SpecifierKind => (foreign ? 'none' : kindOf(tool))
