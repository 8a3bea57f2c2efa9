import { isObject, type Json, type JsonObject } from '../../src/core/json.ts'
import { type FullAnswer, pieces, type ScriptRequest } from './answer.ts'
import { messageText, objects, string } from './message-text.ts'
import type { WireFormat } from './wire-format.ts'

/** A fixed `created` (seconds since 1970): equal requests get equal bytes. */
const CREATED = 1_760_000_000

/** OpenAI Chat Completions (`POST /v1/chat/completions`). Usage is streamed only when `stream_options.include_usage` asks for it. */
export const openaiWire: WireFormat = {
  name: 'openai',
  read,
  json: (answer) => ({
    id: answer.id,
    object: 'chat.completion',
    created: CREATED,
    model: answer.model,
    choices: [{ index: 0, message: message(answer), logprobs: null, finish_reason: finishReason(answer) }],
    usage: usage(answer),
  }),
  events,
  end: 'data: [DONE]\n\n',
  error: (status, message) => ({ error: { message, type: errorType(status), param: null, code: null } }),
  streamError: (message) => sse({ error: { message, type: 'server_error', param: null, code: null } }),
}

function read(body: JsonObject): Omit<ScriptRequest, 'wire' | 'body' | 'headers' | 'task'> {
  const system: string[] = []
  const names = new Map<string, string>()
  let lastUserText = ''
  let turn = 1
  let results: ScriptRequest['toolResults'] = []
  for (const entry of objects(body['messages'])) {
    const text = messageText(entry['content'])
    if (entry['role'] === 'system' || entry['role'] === 'developer') system.push(text)
    if (entry['role'] === 'user' && text) lastUserText = text
    if (entry['role'] === 'tool') {
      const id = string(entry['tool_call_id'])
      results = [...results, { id, name: names.get(id) ?? '', text }]
    }
    if (entry['role'] === 'assistant') {
      turn += 1
      results = []
      for (const call of objects(entry['tool_calls'])) {
        names.set(string(call['id']), isObject(call['function']) ? string(call['function']['name']) : '')
      }
    }
  }
  return { system: system.join('\n\n'), lastUserText, toolResults: results, turn }
}

function errorType(status: number): string {
  if (status === 429) return 'rate_limit_error'
  return status >= 500 ? 'server_error' : 'invalid_request_error'
}

const finishReason = (answer: FullAnswer): string => (answer.cut ? 'length' : answer.calls.length > 0 ? 'tool_calls' : 'stop')

/** OpenAI counts cached tokens as part of the prompt and reports no cache writes. */
const usage = ({ usage: { input, output, cacheRead, cacheWrite } }: FullAnswer): JsonObject => ({
  prompt_tokens: input + cacheRead + cacheWrite,
  completion_tokens: output,
  total_tokens: input + cacheRead + cacheWrite + output,
  prompt_tokens_details: { cached_tokens: cacheRead, audio_tokens: 0 },
  completion_tokens_details: { reasoning_tokens: 0, audio_tokens: 0, accepted_prediction_tokens: 0, rejected_prediction_tokens: 0 },
})

const toolCalls = (answer: FullAnswer): readonly JsonObject[] =>
  answer.calls.map((call) => ({ id: call.id, type: 'function', function: { name: call.name, arguments: call.arguments } }))

const message = (answer: FullAnswer): JsonObject => ({
  role: 'assistant',
  content: answer.text || null,
  refusal: null,
  ...(answer.reasoning ? { reasoning_content: answer.reasoning.text } : {}),
  ...(answer.calls.length > 0 ? { tool_calls: toolCalls(answer) } : {}),
})

function events(answer: FullAnswer, body: JsonObject): readonly string[] {
  const frame = { id: answer.id, object: 'chat.completion.chunk', created: CREATED, model: answer.model, system_fingerprint: 'fp_scripted' }
  const options = body['stream_options']
  const withUsage = isObject(options) && options['include_usage'] === true
  const chunk = (delta: JsonObject, finish: Json = null): string =>
    sse({ ...frame, choices: [{ index: 0, delta, logprobs: null, finish_reason: finish }], ...(withUsage ? { usage: null } : {}) })
  return [
    chunk({ role: 'assistant', content: '', refusal: null }),
    ...(answer.reasoning ? [chunk({ reasoning_content: answer.reasoning.text })] : []),
    ...pieces(answer.text, answer.chunks).map((content) => chunk({ content })),
    ...answer.calls.flatMap((call, index) => [
      chunk({ tool_calls: [{ index, id: call.id, type: 'function', function: { name: call.name, arguments: '' } }] }),
      ...pieces(call.arguments, 2).map((part) => chunk({ tool_calls: [{ index, function: { arguments: part } }] })),
    ]),
    chunk({}, finishReason(answer)),
    ...(withUsage ? [sse({ ...frame, choices: [], usage: usage(answer) })] : []),
  ]
}

const sse = (data: JsonObject): string => `data: ${JSON.stringify(data)}\n\n`
