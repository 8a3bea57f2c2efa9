import type { ScriptedWire } from '../src/cli/bench/wire.ts'
import { SCRIPTED_MODEL, SCRIPTED_USAGE } from '../src/cli/bench/wire.ts'
import type { JsonObject } from '../src/core/json.ts'

/** OpenAI Chat Completions, which most peers speak. */
export const chatWire: ScriptedWire = {
  path: /\/chat\/completions$/,
  result: '"role":"tool"',
  preamble({ messages, tools }) {
    const list = Array.isArray(messages) ? (messages as readonly JsonObject[]) : []
    return { system: list.filter(({ role }) => role === 'system' || role === 'developer').map(({ content }) => content), tools }
  },
  reply({ id, text, calls }, streamed) {
    const head = { id: `chatcmpl-${id}`, created: 1_760_000_000, model: SCRIPTED_MODEL }
    const usage = { prompt_tokens: SCRIPTED_USAGE.input, completion_tokens: SCRIPTED_USAGE.output, total_tokens: SCRIPTED_USAGE.input + SCRIPTED_USAGE.output }
    const toolCalls = calls.map(({ id, name, input }, index) => ({ index, id, type: 'function', function: { name, arguments: JSON.stringify(input) } }))
    const message = { role: 'assistant', content: text === '' ? null : text, ...(calls.length > 0 && { tool_calls: toolCalls }) }
    const reason = calls.length > 0 ? 'tool_calls' : 'stop'
    if (!streamed) return JSON.stringify({ ...head, object: 'chat.completion', choices: [{ index: 0, message, finish_reason: reason }], usage })
    const chunk = (part: JsonObject): string => `data: ${JSON.stringify({ ...head, object: 'chat.completion.chunk', ...part })}\n\n`
    return chunk({ choices: [{ index: 0, delta: message, finish_reason: null }] }) +
      chunk({ choices: [{ index: 0, delta: {}, finish_reason: reason }] }) + chunk({ choices: [], usage }) + 'data: [DONE]\n\n'
  },
}
