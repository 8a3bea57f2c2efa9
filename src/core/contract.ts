import type { Json, JsonObject } from './json.ts'

/** What running a tool can do to the world. Read-only is computed from this, never declared (GRA-07). */
export type Effect = 'read' | 'write' | 'execute' | 'network' | 'delegate'

/**
 * One tool call of a reply. `local` is set by the main side, for calls that passed every check there and need no authority beyond reading:
 * the agent's own thread runs those, and hands all others back through `Host.call`.
 */
export type ToolCall = { readonly id: string; readonly name: string; readonly input: Json; readonly local: boolean }

/** Who refused a call: the grant (`role`), a rule, a missing approval; or `input` for input that does not fit the tool's schema. */
export type RefusalSource = 'role' | 'rule' | 'approval' | 'input'

/** A file whose content an outcome rests on, with the hash of that content (hex). */
export type FileRead = { readonly path: string; readonly hash: string }

/** What came of one call. A failure is a value: `ok: false` and a text that begins with `Error: ` (TOO-01) or a refusal with its `source`. */
export type ToolOutcome = {
  readonly callId: string
  readonly tool: string
  readonly ok: boolean
  readonly text: string
  readonly source?: RefusalSource
  readonly reads?: readonly FileRead[]
  /** Agents whose results this outcome hands over: they are not notified of again (DEL-07). */
  readonly hands?: readonly string[]
}

/** For a call that nobody answered: a fault of the thread, and words for the model. */
export const noOutcome = ({ id, name }: ToolCall): ToolOutcome => ({ callId: id, tool: name, ok: false, text: `Error: ${name} gave no outcome` })

/** What is to become of one call of a reply. */
export type Verdict =
  | { readonly kind: 'run'; readonly call: ToolCall }
  | { readonly kind: 'refused'; readonly outcome: ToolOutcome }

/** Tokens as the provider reports them. `input` counts the uncached part only. */
export type Usage = { readonly input: number; readonly output: number; readonly cacheRead: number; readonly cacheWrite: number }

export const NO_USAGE: Usage = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 }

export const addUsage = (a: Usage, b: Usage): Usage => ({
  input: a.input + b.input,
  output: a.output + b.output,
  cacheRead: a.cacheRead + b.cacheRead,
  cacheWrite: a.cacheWrite + b.cacheWrite,
})

export const totalTokens = (usage: Usage): number => usage.input + usage.output + usage.cacheRead + usage.cacheWrite

/** One whole reply of a model. Without calls it is the run's last: its text is the result. */
export type Reply = {
  readonly text: string
  readonly calls: readonly ToolCall[]
  readonly usage: Usage
  /** The model the provider says it used (MOD-06). */
  readonly model: string
  /** Provider content that must go back unchanged with the next request (signed reasoning); opaque to everyone else. */
  readonly opaque?: Json
  /** The typed value a program returned; a language model's reply has none. */
  readonly value?: Json
  /** Notes for the result, one line each (PRG-06). */
  readonly notes?: readonly string[]
}

export type Message =
  | { readonly role: 'user'; readonly text: string; readonly synthetic?: string }
  | { readonly role: 'assistant'; readonly text: string; readonly calls: readonly ToolCall[]; readonly opaque?: Json }
  | { readonly role: 'tool'; readonly outcomes: readonly ToolOutcome[] }

/** A tool as a model sees it. `input` is a JSON Schema. */
export type ToolSchema = { readonly name: string; readonly description: string; readonly input: JsonObject }

export type Effort = 'low' | 'medium' | 'high' | 'xhigh' | 'max' | number

export type ModelRequest = {
  readonly agent: string
  readonly turn: number
  /** Wall clock of the turn in ms, as journaled: the only time a program sees (PRG-02). */
  readonly time: number
  readonly system: string
  readonly tools: readonly ToolSchema[]
  readonly messages: readonly Message[]
  readonly effort?: Effort
  readonly cacheTtl?: '5m' | '1h'
}

/** A piece of a reply on its way, for display only: never acted on (MOD-06). `reset` discards what was shown of a reply that broke off. */
export type Delta = { readonly kind: 'text' | 'reasoning'; readonly text: string } | { readonly kind: 'reset' }

export type ModelContext = { readonly signal: AbortSignal; onDelta(delta: Delta): void }

/** Anything that can answer: a provider, a program, a recording. Rejects with a CadreError (`MODEL`, `RATE_LIMIT`, `PROGRAM`) or the signal's reason. */
export interface Model {
  /** The id results and listings show, e.g. `anthropic/claude-sonnet-4-5` or `script`. */
  readonly id: string
  generate(request: ModelRequest, context: ModelContext): Promise<Reply>
  /** Frees what the run held (a program's isolate). Called exactly once, when the run has ended. */
  close?(): Promise<void> | void
}

/** The whole of what an agent loop can ask for. Plain data in, plain data out. */
export interface Host {
  /** Hand in the outcomes of the last turn's calls; get the model's next reply. Rejects with a typed stop (budget, cancelled, limit). */
  next(outcomes: readonly ToolOutcome[]): Promise<Reply>
  /** Run calls whose effect needs authority this side does not hold. A tool's own failure is an outcome, never a rejection. */
  call(calls: readonly ToolCall[]): Promise<readonly ToolOutcome[]>
}

/** Runs one `local` call to its outcome; never rejects. */
export type ToolRunner = (call: ToolCall) => Promise<ToolOutcome>

/** All a thread needs to run one agent's read tools. `form`: what tools answer, text for a language model or JSON for a program. */
export type Brief = {
  readonly agent: string
  readonly type: string
  readonly root: string
  /** Extra folders the grant lets path tools into. */
  readonly paths: readonly string[]
  readonly form: 'text' | 'data'
}

/** One agent's run: who it is, what it may ask for, and what stops it. */
export type Job = { readonly brief: Brief; readonly host: Host; readonly signal: AbortSignal }

/** How a loop ended when nothing stopped it: the last reply's text. */
export type Report = { readonly text: string; readonly turns: number }
