import type { ToolCall, ToolOutcome, ToolRunner } from '../src/core/contract.ts'
import { messageOf } from '../src/core/errors.ts'
import type { ReadContext, ReadFunction, ToolAnswer } from '../src/core/tool.ts'

/** Read functions by tool name. Each takes the input its own schema allows; the main side has checked it. */
export type ReadFunctions = Readonly<Record<string, ReadFunction<never>>>

/** `run` brings one call to its outcome and never rejects; `idle` resolves once no call is running any more. */
export type LocalTools = { readonly run: ToolRunner; idle(): Promise<void> }

/** The read tools of one agent (TOO-01): whatever goes wrong in one is an outcome that begins `Error: `. */
export function localTools(functions: ReadFunctions, context: ReadContext): LocalTools {
  const running = new Set<Promise<ToolOutcome>>()
  return {
    async run(call) {
      const outcome = outcomeOf(call, functions, context)
      running.add(outcome)
      try {
        return await outcome
      } finally {
        running.delete(outcome)
      }
    },
    async idle() {
      await Promise.all(running)
    },
  }
}

async function outcomeOf(call: ToolCall, functions: ReadFunctions, context: ReadContext): Promise<ToolOutcome> {
  const { id: callId, name: tool } = call
  try {
    const { text, reads } = await answerOf(call, functions, context)
    return { callId, tool, ok: true, text, ...(reads && { reads }) }
  } catch (error) {
    return { callId, tool, ok: false, text: `Error: ${messageOf(error)}` }
  }
}

function answerOf({ name, input }: ToolCall, functions: ReadFunctions, context: ReadContext): Promise<ToolAnswer> | ToolAnswer {
  const read = Object.hasOwn(functions, name) ? functions[name] : undefined
  if (!read) throw new Error(`Unknown tool ${name}. Available: ${Object.keys(functions).join(', ')}.`)
  // The door is on the main side: a call is marked `local` only after its input was checked against this tool's schema.
  return read(input as never, context)
}
