import type {
  LanguageModelV4CallOptions, LanguageModelV4FunctionTool, LanguageModelV4Message, LanguageModelV4Prompt, SharedV4ProviderOptions,
} from '@ai-sdk/provider'
import type { Message, ModelRequest, ToolCall, ToolOutcome } from '../core/contract.ts'
import { isObject } from '../core/json.ts'
import type { ProviderSettings } from './provider-settings.ts'
import { type AssistantMessage, openParts } from './reply-parts.ts'

export type PromptOptions = {
  /** The full id of the model that gets the prompt. */
  readonly model: string
  readonly type: ProviderSettings['type']
}

/**
 * A request as the provider packages take it. System prompt and tools come first and depend on nothing else, so they are byte-equal over
 * the runs of a type (MOD-07). Cache marks stand behind the last tool, the system prompt, and the last two messages that are not the model's and stay:
 * the last one is what the next turn reads, the one before is what this turn reads even when many blocks lie between.
 */
export function promptOf(request: ModelRequest, options: PromptOptions): Pick<LanguageModelV4CallOptions, 'prompt' | 'tools'> {
  // The other wires have no such field: their providers cache by themselves, or not at all.
  const mark = options.type === 'anthropic' ? cacheMark(request.cacheTtl) : undefined
  const calledAs = callNames(request.messages)
  const messages = request.messages.map((message) => ({ message, sent: messageOf(message, options, calledAs) }))
  const marked = new Set(messages.filter(({ message, sent }) => sent.length > 0 && mayMark(message)).slice(-2))
  const prompt: LanguageModelV4Prompt = [
    ...(blank(request.system) ? [] : [withMark({ role: 'system', content: request.system }, mark)]),
    ...messages.flatMap((entry) => (marked.has(entry) ? entry.sent.map((message) => withMark(message, mark)) : entry.sent)),
  ]
  const tools = request.tools.map((tool, i): LanguageModelV4FunctionTool => {
    const plain: LanguageModelV4FunctionTool = { type: 'function', name: tool.name, description: tool.description, inputSchema: tool.input }
    return mark && i === request.tools.length - 1 ? { ...plain, providerOptions: mark } : plain
  })
  return { prompt, ...(tools.length > 0 ? { tools } : {}) }
}

/** Anchors are another text in each request (DEL-11). */
const mayMark = (message: Message): boolean => message.role === 'tool' || (message.role === 'user' && message.synthetic !== 'anchors')

/** 5 minutes is what the wire means by no time; saying nothing keeps gateways working that do not know the field. */
const cacheMark = (ttl: '5m' | '1h' = '5m'): SharedV4ProviderOptions => ({
  anthropic: { cacheControl: ttl === '1h' ? { type: 'ephemeral', ttl } : { type: 'ephemeral' } },
})

const withMark = (message: LanguageModelV4Message, mark: SharedV4ProviderOptions | undefined): LanguageModelV4Message =>
  mark ? { ...message, providerOptions: mark } : message

/** Anthropic refuses a request with a text that is blank. */
const blank = (text: string): boolean => text.trim() === ''

/** Calls by their ids, under the names their model used: `Read` for `read`, or a type's own for `agent`. Gemini pairs a result with its call by it. */
type CallNames = ReadonlyMap<string, string>

const callNames = (messages: readonly Message[]): CallNames =>
  new Map(messages.flatMap((message) => (message.role === 'assistant' ? message.calls.map(({ id, name }) => [id, name] as const) : [])))

/** Messages without content are left out. */
function messageOf(message: Message, { model, type }: PromptOptions, calledAs: CallNames): readonly LanguageModelV4Message[] {
  switch (message.role) {
    case 'user':
      return blank(message.text) ? [] : [{ role: 'user', content: [{ type: 'text', text: message.text }] }]
    case 'assistant':
      return assistantMessage(message, model)
    case 'tool':
      return message.outcomes.length === 0 ? [] : [{ role: 'tool', content: message.outcomes.map((outcome) => toolResult(outcome, calledAs, type)) }]
  }
}

type AssistantPart = Extract<LanguageModelV4Message, { role: 'assistant' }>['content'][number]
type ToolPart = Extract<LanguageModelV4Message, { role: 'tool' }>['content'][number]

function assistantMessage(message: AssistantMessage, model: string): readonly LanguageModelV4Message[] {
  const content = openParts(message, model).flatMap((part): AssistantPart[] => {
    // `meta` came from the same package's stream as plain JSON: see read-reply.ts.
    const meta = part.meta ? { providerOptions: part.meta as SharedV4ProviderOptions } : {}
    if ('reasoning' in part) return [{ type: 'reasoning', text: part.reasoning, ...meta }]
    if ('text' in part) return blank(part.text) ? [] : [{ type: 'text', text: part.text, ...meta }]
    return [{ type: 'tool-call', toolCallId: wireId(part.call.id), toolName: part.call.name, input: objectInput(part.call), ...meta }]
  })
  return content.length === 0 ? [] : [{ role: 'assistant', content }]
}

/** Anthropic's wire has a mark for errors; the others would wrap the text in JSON. It says `Error: ` itself. */
function toolResult(outcome: ToolOutcome, calledAs: CallNames, type: ProviderSettings['type']): ToolPart {
  return {
    type: 'tool-result',
    toolCallId: wireId(outcome.callId),
    toolName: calledAs.get(outcome.callId) ?? outcome.tool,
    output: { type: outcome.ok || type !== 'anthropic' ? 'text' : 'error-text', value: outcome.text },
  }
}

/** The wires want an object. Arguments that were none (broken JSON) go back under a name that says so. */
const objectInput = ({ input }: ToolCall): unknown => (isObject(input) ? input : { invalid_arguments: input })

/** The characters every wire takes in an id: a run can go on with another provider's model. */
const wireId = (id: string): string => id.replaceAll(/[^a-zA-Z0-9_-]/g, '_')
