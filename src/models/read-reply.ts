import type { LanguageModelV4Content, LanguageModelV4StreamPart, LanguageModelV4Usage, SharedV4ProviderMetadata } from '@ai-sdk/provider'
import { type Delta, NO_USAGE, type ToolCall, type Usage } from '../core/contract.ts'
import { isObject, type Json, type JsonObject } from '../core/json.ts'
import { oversize } from './body-limit.ts'
import { isTooDeep } from './nesting.ts'
import type { ReplyPart } from './reply-parts.ts'

type Block = { readonly kind: 'reasoning' | 'text'; text: string; meta: JsonObject | undefined }
type Call = { readonly kind: 'call'; readonly call: ToolCall; readonly meta: JsonObject | undefined }

/**
 * How much text, reasoning and arguments of calls one reply may hold, in UTF-16 characters: about a million tokens, and what the journal
 * takes in without a pause that is felt. A stream may bring more bytes than that, because most of them are framing.
 */
const MAX_REPLY_CHARS = 4_000_000

/** How a reply ended, in the packages' words; null while it has not. */
export type Finish = Extract<LanguageModelV4StreamPart, { type: 'finish' }>['finishReason']['unified']

/** Puts a reply together out of stream parts or of the content of a plain one. `usage` and `model` are right at any time, also half-way. */
export class ReplyReader {
  usage: Usage = NO_USAGE
  /** The model the provider says it uses; null before it said so. */
  model: string | null = null
  finish: Finish | null = null
  readonly #pieces: (Block | Call)[] = []
  readonly #open = new Map<string, Block>()
  /** Characters of arguments that came in pieces, by call: the whole call repeats them. */
  readonly #inputs = new Map<string, number>()
  /** How many names were made for an id that was taken. */
  readonly #copies = new Map<string, number>()
  #chars = 0
  readonly #taken: Set<string>
  readonly #turn: number
  readonly #onDelta: (delta: Delta) => void

  /** `taken`: ids of earlier calls; the new ones must differ, whatever the provider says. */
  constructor(taken: Iterable<string>, turn: number, onDelta: (delta: Delta) => void) {
    this.#taken = new Set(taken)
    this.#turn = turn
    this.#onDelta = onDelta
  }

  /** Takes one part in. An error part throws what it holds; a reply over MAX_REPLY_CHARS a TryFailure of kind `oversize`. */
  push(part: LanguageModelV4StreamPart | LanguageModelV4Content): void {
    switch (part.type) {
      case 'text-start':
      case 'reasoning-start':
        this.#start(part.type === 'text-start' ? 'text' : 'reasoning', part.id, part.providerMetadata)
        break
      case 'text-delta':
      case 'reasoning-delta':
        this.#append(part.type === 'text-delta' ? 'text' : 'reasoning', part.id, part.delta, part.providerMetadata)
        break
      case 'text-end':
      case 'reasoning-end':
        this.#append(part.type === 'text-end' ? 'text' : 'reasoning', part.id, '', part.providerMetadata)
        break
      case 'text':
      case 'reasoning':
        this.#start(part.type, '', part.providerMetadata)
        this.#append(part.type, '', part.text, undefined)
        break
      case 'tool-input-delta':
        this.#inputs.set(part.id, (this.#inputs.get(part.id) ?? 0) + part.delta.length)
        this.#count(part.delta.length)
        break
      case 'tool-call':
        this.#count(Math.max(0, part.input.length - (this.#inputs.get(part.toolCallId) ?? 0)))
        this.#pieces.push({
          kind: 'call',
          call: { id: this.#freeId(part.toolCallId), name: part.toolName, input: parsed(part.input), local: false },
          meta: metaOf(part.providerMetadata),
        })
        break
      case 'response-metadata':
        this.model = part.modelId ?? this.model
        break
      case 'custom':
        this.usage = startUsage(part.providerMetadata) ?? this.usage
        break
      case 'raw':
        // Google's package passes the model's version on in no other part.
        if (isObject(part.rawValue) && typeof part.rawValue['modelVersion'] === 'string') this.model = part.rawValue['modelVersion']
        break
      case 'finish':
        this.finish = part.finishReason.unified
        this.usage = usageOf(part.usage) ?? this.usage
        break
      case 'error':
        throw part.error
      default: // begin and end of a call's arguments, sources, files: none of ours
    }
  }

  get text(): string {
    return this.#pieces.map((piece) => (piece.kind === 'text' ? piece.text : '')).join('')
  }

  get calls(): readonly ToolCall[] {
    return this.#pieces.flatMap((piece) => (piece.kind === 'call' ? [piece.call] : []))
  }

  /** Everything in the order it came. */
  get parts(): readonly ReplyPart[] {
    return this.#pieces.map((piece): ReplyPart => {
      const meta = piece.meta ? { meta: piece.meta } : {}
      if (piece.kind === 'call') return { call: piece.call.id, ...meta }
      return piece.kind === 'text' ? { text: piece.text.length, ...meta } : { reasoning: piece.text, ...meta }
    })
  }

  #start(kind: Block['kind'], id: string, metadata: SharedV4ProviderMetadata | undefined): void {
    const block: Block = { kind, text: '', meta: metaOf(metadata) }
    this.#pieces.push(block)
    this.#open.set(`${kind} ${id}`, block)
  }

  #append(kind: Block['kind'], id: string, text: string, metadata: SharedV4ProviderMetadata | undefined): void {
    this.#count(text.length)
    const block = this.#open.get(`${kind} ${id}`)
    if (!block) return
    block.text += text
    block.meta = merged(block.meta, metaOf(metadata))
    if (text !== '') this.#onDelta({ kind, text })
  }

  #count(chars: number): void {
    this.#chars += chars
    if (this.#chars > MAX_REPLY_CHARS) throw oversize(`the reply is over ${MAX_REPLY_CHARS.toLocaleString('en-US')} characters`)
  }

  #freeId(id: string): string {
    let free = id
    // Counts on from the last one: thousands of calls with one id would be compared with each other.
    let n = this.#copies.get(id) ?? 0
    while (free === '' || this.#taken.has(free)) free = `${id || 'call'}_${this.#turn}_${++n}`
    this.#copies.set(id, n)
    this.#taken.add(free)
    return free
  }
}

/** Arguments that are no JSON, or nested too deep, reach the loop as the text they are: its check of the input answers the model. */
function parsed(input: string): Json {
  try {
    // JSON.parse gives JSON and nothing else.
    const value = JSON.parse(input) as Json
    return isTooDeep(value) ? input : value
  } catch {
    return input
  }
}

/** What a provider wants back, as plain JSON. Web citations are the one kind it does not, and what is nested too deep for the journal. */
function metaOf(metadata: SharedV4ProviderMetadata | undefined): JsonObject | undefined {
  if (!metadata) return undefined
  const entries = Object.entries(metadata).flatMap(([name, values]) => {
    const kept = Object.entries(values).filter(([key, value]) =>
      value !== undefined && value !== null && key !== 'citations' && !isTooDeep(value))
    return kept.length > 0 ? [[name, Object.fromEntries(kept)] as const] : []
  })
  return entries.length > 0 ? Object.fromEntries(entries) : undefined
}

function merged(a: JsonObject | undefined, b: JsonObject | undefined): JsonObject | undefined {
  if (!a || !b) return a ?? b
  const names = new Set([...Object.keys(a), ...Object.keys(b)])
  return Object.fromEntries([...names].map((name) => [name, { ...objectAt(a, name), ...objectAt(b, name) }]))
}

const objectAt = (object: JsonObject, name: string): JsonObject => {
  const value = object[name]
  return isObject(value) ? value : {}
}

/** A cut-off stream ends without figures: then what was reported at its start stays. */
function usageOf({ inputTokens, outputTokens }: LanguageModelV4Usage): Usage | null {
  if (inputTokens.total === undefined && outputTokens.total === undefined) return null
  const cacheRead = inputTokens.cacheRead ?? 0
  const cacheWrite = inputTokens.cacheWrite ?? 0
  const input = inputTokens.noCache ?? Math.max(0, (inputTokens.total ?? 0) - cacheRead - cacheWrite)
  return { input, output: outputTokens.total ?? 0, cacheRead, cacheWrite }
}

/** Anthropic reports the prompt's tokens when it begins to answer: what a reply that breaks off has cost for certain (BUD-06). */
function startUsage(metadata: SharedV4ProviderMetadata | undefined): Usage | null {
  const usage = metadata?.['anthropic']?.['usage']
  if (!isObject(usage)) return null
  const count = (name: string): number => {
    const value = usage[name]
    return typeof value === 'number' ? value : 0
  }
  return {
    input: count('input_tokens'),
    output: count('output_tokens'),
    cacheRead: count('cache_read_input_tokens'),
    cacheWrite: count('cache_creation_input_tokens'),
  }
}
