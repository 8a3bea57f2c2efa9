import type { ToolCall, Verdict } from '../core/contract.ts'
import type { Grant } from '../core/grant.ts'
import type { JsonObject } from '../core/json.ts'
import { toolsNamed } from '../core/tool-names.ts'
import { allows } from './specifier.ts'

/** What the toolbox knows of a call: its tool and checked input, or what is wrong with it. */
export type CheckedCall = { readonly tool: { readonly name: string; readonly run?: unknown }; readonly input: JsonObject } | { readonly error: string }

/** Decides over a call by its agent's grant (GRA-09) and then by its input. Rights come first: a refusal never says more about a tool that is not there. */
export function decide(call: ToolCall, grant: Grant, known: boolean, checked: CheckedCall): Verdict {
  const refuse = (text: string, source: 'role' | 'input'): Verdict =>
    ({ kind: 'refused', outcome: { callId: call.id, tool: call.name, ok: false, text, source } })
  // A model trained on other names may call `Grep` for `grep`, with input that does not fit too.
  const name = 'tool' in checked ? checked.tool.name : (toolsNamed(call.name, grant.tools.map((tool) => tool.name))[0] ?? call.name)
  const granted = grant.tools.find((tool) => tool.name === name)
  if (known && !granted) return refuse(`${call.name} is not available to ${grant.type}.`, 'role')
  if ('error' in checked) return refuse(known ? checked.error : unknownTool(call, grant), 'input')
  if (!granted) return refuse(`${call.name} is not available to ${grant.type}.`, 'role')
  if (!allows(granted, checked.input, grant)) {
    return refuse(`${call.name} with this input is not available to ${grant.type}: it is limited to ${granted.only.map((layer) => layer.join(' or ')).join(', and to ')}.`, 'role')
  }
  return { kind: 'run', call: { id: call.id, name, input: checked.input, local: checked.tool.run === undefined } }
}

const unknownTool = (call: ToolCall, grant: Grant): string => `Unknown tool ${call.name}. Available: ${grant.tools.map(({ name }) => name).join(', ')}.`
