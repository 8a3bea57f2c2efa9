import type { Json, JsonObject } from '../../src/core/json.ts'
import { type FullAnswer, pieces, type ScriptRequest } from './answer.ts'
import { messageText, objects, string } from './message-text.ts'
import type { WireFormat } from './wire-format.ts'

/** Anthropic Messages (`POST /v1/messages`), as documented for `anthropic-version: 2023-06-01`. */
export const anthropicWire: WireFormat = {
  name: 'anthropic',
  read,
  json: (answer) =>
    ({ ...head(answer), content: blocks(answer), stop_reason: stopReason(answer), stop_sequence: null, usage: usage(answer) }),
  events,
  end: '',
  error: (status, message) => ({ type: 'error', error: { type: errorType(status), message }, request_id: 'req_scripted' }),
  streamError: (message) => sse('error', { type: 'error', error: { type: 'overloaded_error', message } }),
}

function read(body: JsonObject): Omit<ScriptRequest, 'wire' | 'body' | 'headers' | 'task'> {
  const messages = objects(body['messages'])
  const names = new Map<string, string>()
  let lastUserText = ''
  let turn = 1
  let results: ScriptRequest['toolResults'] = []
  for (const message of messages) {
    if (message['role'] === 'assistant') {
      turn += 1
      results = []
      for (const block of objects(message['content'])) {
        if (block['type'] === 'tool_use') names.set(string(block['id']), string(block['name']))
      }
      continue
    }
    const text = messageText(message['content'])
    if (text) lastUserText = text
    const handedIn = objects(message['content']).filter((block) => block['type'] === 'tool_result')
    results = [...results, ...handedIn.map((block) => {
      const id = string(block['tool_use_id'])
      return { id, name: names.get(id) ?? '', text: messageText(block['content']) }
    })]
  }
  return { system: messageText(body['system']), lastUserText, toolResults: results, turn }
}

const head = (answer: FullAnswer): JsonObject => ({ id: answer.id, type: 'message', role: 'assistant', model: answer.model })

const stopReason = (answer: FullAnswer): string => (answer.cut ? 'max_tokens' : answer.calls.length > 0 ? 'tool_use' : 'end_turn')

const usage = ({ usage: { input, output, cacheRead, cacheWrite } }: FullAnswer): JsonObject => ({
  input_tokens: input,
  output_tokens: output,
  cache_read_input_tokens: cacheRead,
  cache_creation_input_tokens: cacheWrite,
})

const blocks = (answer: FullAnswer): readonly Json[] => [
  ...(answer.reasoning ? [{ type: 'thinking', thinking: answer.reasoning.text, signature: answer.reasoning.signature ?? '' }] : []),
  ...(answer.text ? [{ type: 'text', text: answer.text }] : []),
  ...answer.calls.map(({ id, name, input }) => ({ type: 'tool_use', id, name, input })),
]

function events(answer: FullAnswer): readonly string[] {
  const out: string[] = [
    sse('message_start', {
      message: { ...head(answer), content: [], stop_reason: null, stop_sequence: null, usage: { ...usage(answer), output_tokens: 1 } },
    }),
  ]
  let index = 0
  const block = (start: JsonObject, deltas: readonly JsonObject[]): void => {
    out.push(sse('content_block_start', { index, content_block: start }))
    for (const delta of deltas) out.push(sse('content_block_delta', { index, delta }))
    out.push(sse('content_block_stop', { index }))
    index += 1
  }
  if (answer.reasoning) {
    block({ type: 'thinking', thinking: '', signature: '' }, [
      { type: 'thinking_delta', thinking: answer.reasoning.text },
      { type: 'signature_delta', signature: answer.reasoning.signature ?? '' },
    ])
  }
  if (answer.text) block({ type: 'text', text: '' }, pieces(answer.text, answer.chunks).map((text) => ({ type: 'text_delta', text })))
  for (const call of answer.calls) {
    const deltas = pieces(call.arguments, 2).map((partial) => ({ type: 'input_json_delta', partial_json: partial }))
    block({ type: 'tool_use', id: call.id, name: call.name, input: {} }, deltas)
  }
  out.push(sse('message_delta', { delta: { stop_reason: stopReason(answer), stop_sequence: null }, usage: usage(answer) }))
  out.push(sse('message_stop', {}))
  return out
}

const sse = (type: string, data: JsonObject): string => `event: ${type}\ndata: ${JSON.stringify({ type, ...data })}\n\n`

function errorType(status: number): string {
  const types: Readonly<Record<number, string>> = {
    400: 'invalid_request_error', 401: 'authentication_error', 403: 'permission_error', 404: 'not_found_error', 429: 'rate_limit_error',
    529: 'overloaded_error',
  }
  return types[status] ?? 'api_error'
}
