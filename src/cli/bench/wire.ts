import type { JsonObject } from '../../core/json.ts'

/** What a script answers: a text, or calls of tools. No other reply of the conversation has its id. */
export type ScriptedReply = { readonly id: string; readonly text: string; readonly calls: readonly ScriptedCall[] }
export type ScriptedCall = { readonly id: string; readonly name: string; readonly input: JsonObject }

/** A provider's wire, as far as a script needs it. */
export type ScriptedWire = {
  /** How the path of its requests ends. */
  readonly path: RegExp
  /** What stands once for each tool result in a request's JSON: inside a text the quotes would be escaped. */
  readonly result: string
  /** A whole reply, as one stream of events or as JSON. */
  reply(reply: ScriptedReply, streamed: boolean): string
  /** What a request says before its first message: its system text, and its tools. */
  preamble(request: JsonObject): { readonly system: unknown; readonly tools: unknown }
}

/** Every reply says that it took so many tokens. */
export const SCRIPTED_USAGE = { input: 100, output: 20 }
export const SCRIPTED_MODEL = 'claude-scripted'
/** As Cadre is asked for it. */
export const SCRIPTED_ID = `anthropic/${SCRIPTED_MODEL}`

const sse = (type: string, data: JsonObject): string => `event: ${type}\ndata: ${JSON.stringify({ type, ...data })}\n\n`

/** Anthropic Messages. */
export const anthropic: ScriptedWire = {
  path: /\/v1\/messages$/,
  result: '"type":"tool_result"',
  preamble: ({ system, tools }) => ({ system, tools }),
  reply({ id, text, calls }, streamed) {
    const head = { id: `msg_${id}`, type: 'message', role: 'assistant', model: SCRIPTED_MODEL }
    const usage = { input_tokens: SCRIPTED_USAGE.input, output_tokens: SCRIPTED_USAGE.output }
    const reason = calls.length > 0 ? 'tool_use' : 'end_turn'
    const blocks = [...(text === '' ? [] : [{ type: 'text', text }]), ...calls.map(({ id, name, input }) => ({ type: 'tool_use', id, name, input }))]
    if (!streamed) return JSON.stringify({ ...head, content: blocks, stop_reason: reason, stop_sequence: null, usage })
    const events = blocks.map((block, index) => {
      const start = 'input' in block ? { ...block, input: {} } : { ...block, text: '' }
      const delta = 'input' in block ? { type: 'input_json_delta', partial_json: JSON.stringify(block.input) } : { type: 'text_delta', text: block.text }
      return sse('content_block_start', { index, content_block: start }) + sse('content_block_delta', { index, delta }) + sse('content_block_stop', { index })
    })
    return sse('message_start', { message: { ...head, content: [], stop_reason: null, stop_sequence: null, usage } }) + events.join('') +
      sse('message_delta', { delta: { stop_reason: reason, stop_sequence: null }, usage }) + sse('message_stop', {})
  },
}
