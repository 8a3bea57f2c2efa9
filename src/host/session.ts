import type { Delta, Effort, FileRead, Host, Message, Model, Reply, ToolCall, ToolOutcome, ToolSchema, Usage } from '../core/contract.ts'
import { addUsage, NO_USAGE, noOutcome } from '../core/contract.ts'
import { CadreError } from '../core/errors.ts'
import type { EventBody } from '../core/events.ts'
import type { Json } from '../core/json.ts'
import { Stopped } from '../core/stopped.ts'

/** KIN-11: what the last allowed turn is told. */
const LAST_TURN = 'This is your last turn: answer now with what you have.'

/** More files than this make a run's list of reads useless as a key: it is dropped, and the run is never taken as still valid. */
const MAX_READS = 5_000

export type OutputCheck = (text: string) => { readonly value: Json } | { readonly errors: string }

export type SessionOptions = {
  readonly agent: string
  readonly model: Model
  readonly system: string
  readonly tools: readonly ToolSchema[]
  readonly prompt: string
  readonly maxTurns: number
  readonly effort?: Effort
  readonly cacheTtl?: '5m' | '1h'
  /** AGT-10: checks the last reply; at most `schemaRetries` failed checks go back to the model. */
  readonly output?: { readonly check: OutputCheck; readonly retries: number }
  readonly signal: AbortSignal
  /** Journals events; resolves once they are durable. */
  record(events: readonly EventBody[]): Promise<unknown>
  onDelta(delta: Delta): void
  /** Runs one granted call on the main side; never rejects for the tool's own failure. */
  runCall(call: ToolCall): Promise<ToolOutcome>
  now(): number
  /** USD of one request, by the model that answered (0 when nobody knows its price). */
  cost(model: string, usage: Usage): number
}

/** What a run has come to so far: read when it has ended, however it ended (KIN-10). */
export type Progress = {
  readonly output: string
  readonly value: Json | null
  readonly turns: number
  readonly toolCalls: number
  readonly usage: Usage
  readonly costUsd: number
  readonly model: string
  readonly notes: readonly string[]
  /** Null: too many to be of use. */
  readonly reads: readonly FileRead[] | null
}

export type Session = { readonly host: Host; progress(): Progress }

/** One agent's conversation on the main side, and the innermost host over it: journal, then act (JRN-02). */
export function openSession(options: SessionOptions): Session {
  const { agent, model, record, signal } = options
  const messages: Message[] = [{ role: 'user', text: options.prompt }]
  const reads = new Map<string, FileRead>()
  const notes: string[] = []
  const callIds = new Set<string>()
  let readsKnown = true
  let turn = 0
  let toolCalls = 0
  let repairs = 0
  let usage = NO_USAGE
  let costUsd = 0
  let usedModel = model.id
  let output = ''
  let value: Json | null = null
  let inHand: readonly ToolCall[] = []
  /** Outcomes of this side's own calls: what the far side hands in for them is not taken. */
  let own = new Map<string, ToolOutcome>()

  function noteReads(outcomes: readonly ToolOutcome[]): void {
    for (const { reads: files, ok } of outcomes) {
      for (const file of files ?? []) reads.set(file.path, file)
      if (ok && files === undefined) readsKnown = false
    }
    if (reads.size > MAX_READS) readsKnown = false
  }

  /** Takes the outcomes of the calls in hand, in their order; only those handed out count. Returns what is not journaled yet. */
  function settle(handedIn: readonly ToolOutcome[]): readonly EventBody[] {
    if (inHand.length === 0) return []
    const theirs = new Map(handedIn.map((outcome) => [outcome.callId, outcome]))
    const outcomes = inHand.map((call): ToolOutcome => own.get(call.id) ?? theirs.get(call.id) ?? noOutcome(call))
    const events = outcomes.filter(({ callId }) => !own.has(callId)).map((outcome): EventBody => ({ type: 'tool.ended', data: { turn, outcome } }))
    noteReads(outcomes)
    messages.push({ role: 'tool', outcomes })
    inHand = []
    own = new Map()
    return events
  }

  /** One turn. `before` is journaled with its start: nothing is asked before it is there. */
  async function ask(before: readonly EventBody[]): Promise<Reply> {
    if (turn >= options.maxTurns) {
      await record(before)
      throw turnLimit(options.maxTurns)
    }
    turn += 1
    const injected = turn === options.maxTurns && model.id !== 'script' ? [LAST_TURN] : []
    for (const text of injected) messages.push({ role: 'user', text, synthetic: 'reminder' })
    await record([...before, { type: 'turn.started', data: { turn, injected } }])
    const reply = uniqueCalls(await model.generate(
      {
        agent,
        turn,
        time: options.now(),
        system: options.system,
        tools: options.tools,
        messages,
        ...(options.effort !== undefined && { effort: options.effort }),
        ...(options.cacheTtl && { cacheTtl: options.cacheTtl }),
      },
      { signal, onDelta: options.onDelta },
    ), callIds)
    usage = addUsage(usage, reply.usage)
    // Request by request: a price may depend on how long one is.
    costUsd += options.cost(reply.model, reply.usage)
    usedModel = reply.model
    if (reply.text) output = reply.text
    if (reply.value !== undefined) value = reply.value
    notes.push(...(reply.notes ?? []))
    toolCalls += reply.calls.length
    messages.push({ role: 'assistant', text: reply.text, calls: reply.calls, ...(reply.opaque !== undefined && { opaque: reply.opaque }) })
    const spent = turn >= options.maxTurns && reply.calls.length > 0
    await record([
      { type: 'turn.ended', data: { turn, reply } },
      ...(spent ? [] : reply.calls.map((call): EventBody => ({ type: 'tool.started', data: { turn, call } }))),
    ])
    if (spent) throw turnLimit(options.maxTurns)
    inHand = reply.calls
    return reply
  }

  /** AGT-10: a last reply that does not fit its schema goes back with the errors, a few times. */
  async function askUntilValid(before: readonly EventBody[]): Promise<Reply> {
    for (let events = before; ;) {
      const reply = await ask(events)
      if (reply.calls.length > 0 || !options.output) return reply
      const checked = options.output.check(reply.text)
      if ('value' in checked) {
        value = checked.value
        return reply
      }
      if (repairs >= options.output.retries || model.id === 'script') {
        throw new Stopped({ ending: { status: 'failed', cause: 'output_schema' }, reason: `Its answer does not fit the output schema: ${checked.errors}` })
      }
      repairs += 1
      const text = `Your answer does not fit the output schema: ${checked.errors}\nAnswer again with JSON that fits it, and nothing else.`
      events = [{ type: 'message.sent', data: { text, from: 'schema' } }]
      messages.push({ role: 'user', text, synthetic: 'reminder' })
    }
  }

  return {
    host: {
      next: (outcomes) => askUntilValid(settle(outcomes)),
      async call(calls) {
        return Promise.all(calls.map(async (call) => {
          if (!inHand.some(({ id }) => id === call.id)) throw new CadreError('INVARIANT', `The call ${call.id} of ${agent} was not handed out`)
          const outcome = await options.runCall(call)
          await record([{ type: 'tool.ended', data: { turn, outcome } }])
          own.set(call.id, outcome)
          return outcome
        }))
      },
    },
    progress: () => ({
      output,
      value,
      turns: turn,
      toolCalls,
      usage,
      costUsd,
      model: usedModel,
      notes,
      reads: readsKnown ? [...reads.values()] : null,
    }),
  }
}

const turnLimit = (maxTurns: number): Stopped =>
  new Stopped({ ending: { status: 'partial', cause: 'max_turns' }, reason: `It reached its limit of ${maxTurns} turns.` })

/** Call ids that are unique in the run, whatever the provider sends: outcomes are matched by them. */
function uniqueCalls(reply: Reply, seen: Set<string>): Reply {
  const calls = reply.calls.map((call) => {
    let id = call.id
    for (let n = 2; id === '' || seen.has(id); n += 1) id = `${call.id || 'call'}~${n}`
    seen.add(id)
    return id === call.id ? call : { ...call, id }
  })
  return { ...reply, calls }
}
