import type { Json, JsonObject } from '../../src/core/json.ts'

export type Wire = 'anthropic' | 'openai'

/** A result of a tool call, as the request handed it in. `name` is looked up in the history; '' when the call is not there. */
export type ToolResult = { readonly id: string; readonly name: string; readonly text: string }

/** What a script sees of a request. */
export type ScriptRequest = {
  readonly wire: Wire
  readonly body: JsonObject
  /** All system text, joined by blank lines. */
  readonly system: string
  /** The text of the last message a user wrote (tool results are none). */
  readonly lastUserText: string
  /** The same without the lines an agent's first message begins with: where it is. */
  readonly task: string
  /** The results handed in since the last assistant message, in their order. */
  readonly toolResults: readonly ToolResult[]
  /** 1 for the first request of a conversation, 2 after its first reply, and so on: any number of agents can share a script. */
  readonly turn: number
  readonly headers: Readonly<Record<string, string>>
}

/** Tokens as core counts them: `input` is the uncached part. The server turns them into what each wire reports. */
export type AnswerUsage = { readonly input?: number; readonly output?: number; readonly cacheRead?: number; readonly cacheWrite?: number }

/** A tool call. `raw` replaces the JSON of `input` on the wire, for arguments that are not JSON. */
export type AnswerCall = { readonly name: string; readonly input: Json; readonly raw?: string; readonly id?: string }

/** What the server does with one request. An empty object is a reply without text. */
export type Answer = {
  readonly text?: string
  readonly calls?: readonly AnswerCall[]
  /** A thinking block with its signature (anthropic), or `reasoning_content` (openai). */
  readonly reasoning?: { readonly text: string; readonly signature?: string }
  /** What is left out is counted: four characters a token. */
  readonly usage?: AnswerUsage
  /** Waited before the first byte, in ms. */
  readonly latencyMs?: number
  /** Waited between stream events, in ms. */
  readonly chunkMs?: number
  /** Anything but 200 answers with an error in the shape of the wire; `text` is its message. */
  readonly status?: number
  /** Sent besides the usual ones, with every status. */
  readonly headers?: Readonly<Record<string, string>>
  /** Ends the connection without a word, or half-way through the reply. */
  readonly drop?: 'before' | 'mid-stream'
  /** `chunk`: half-way an event that is not JSON. `json`: status 200 and a body that is no reply at all. */
  readonly malformed?: 'chunk' | 'json'
  /** Half-way an error event, as an overloaded provider sends it after it began. Its text. */
  readonly streamError?: string
  /** A proper reply with neither text nor calls. */
  readonly empty?: true
  /** Accepts and never answers; `mid-stream` begins and then says nothing more. */
  readonly silent?: true | 'mid-stream'
  /** Answers a streaming request with plain JSON, as servers do that cannot stream. */
  readonly plain?: true
  /** The reply ends because of the output limit. */
  readonly cut?: true
  /** In how many pieces the text is streamed (1). */
  readonly chunks?: number
  /** The model the reply says it used; the requested one when left out. */
  readonly model?: string
}

export type Script = (request: ScriptRequest) => Answer | Promise<Answer>

/** An answer with nothing left open. */
export type FullAnswer = {
  readonly id: string
  readonly model: string
  readonly text: string
  readonly calls: readonly { readonly id: string; readonly name: string; readonly input: Json; readonly arguments: string }[]
  readonly reasoning: Answer['reasoning']
  readonly usage: Required<AnswerUsage>
  readonly chunks: number
  readonly cut: boolean
}

const CHARACTERS_PER_TOKEN = 4

/** Fills in what a script left out. `serial` makes ids that no other answer of the server has. */
export function completeAnswer(answer: Answer, request: { readonly body: JsonObject; readonly bytes: number }, serial: number): FullAnswer {
  const text = answer.empty ? '' : (answer.text ?? '')
  const calls = (answer.empty ? [] : (answer.calls ?? [])).map((call, i) => ({
    id: call.id ?? `call_${serial}_${i + 1}`,
    name: call.name,
    input: call.input,
    arguments: call.raw ?? JSON.stringify(call.input),
  }))
  const written = text.length + calls.reduce((sum, call) => sum + call.name.length + call.arguments.length, 0)
  return {
    id: `msg_${serial}`,
    model: answer.model ?? (typeof request.body['model'] === 'string' ? request.body['model'] : 'scripted'),
    text,
    calls,
    reasoning: answer.reasoning,
    usage: {
      input: Math.ceil(request.bytes / CHARACTERS_PER_TOKEN),
      output: Math.ceil(written / CHARACTERS_PER_TOKEN),
      cacheRead: 0,
      cacheWrite: 0,
      ...answer.usage,
    },
    chunks: answer.chunks ?? 1,
    cut: answer.cut ?? false,
  }
}

/** A text in `count` pieces of about the same length; no piece is empty. */
export function pieces(text: string, count: number): readonly string[] {
  if (text === '') return []
  const size = Math.ceil(text.length / Math.max(1, count))
  return Array.from({ length: Math.ceil(text.length / size) }, (_, i) => text.slice(i * size, (i + 1) * size))
}
