import type { Delta, Effort, FileRead, Host, Message, Model, ModelRequest, Reply, ToolCall, ToolOutcome, ToolSchema, Usage } from '../core/contract.ts'
import { addUsage, NO_USAGE, noOutcome } from '../core/contract.ts'
import { CadreError } from '../core/errors.ts'
import type { EventBody, Summary } from '../core/events.ts'
import type { Json } from '../core/json.ts'
import type { Restored } from '../core/restored.ts'
import { Stopped } from '../core/stopped.ts'
import { createCompactor } from './compactor.ts'
import type { Mailbox } from './mailbox.ts'

/** KIN-11: what the last allowed turn is told. */
const LAST_TURN = 'This is your last turn: answer now with what you have.'

/** More files than this make a run's list of reads useless as a key: it is dropped, and the run is never taken as still valid. */
const MAX_READS = 5_000

export type SessionOptions = {
  readonly agent: string
  readonly model: Model
  readonly system: string
  readonly tools: readonly ToolSchema[]
  /** What the conversation begins with, the agent's own prompt last. */
  readonly messages: readonly Message[]
  readonly maxTurns: number
  readonly effort?: Effort
  readonly cacheTtl?: '5m' | '1h'
  /** What is to be read before each turn. */
  readonly mailbox: Mailbox
  /** Where an interrupted run stood: it goes on from there, and no reply that is here is asked for again (JRN-03). */
  readonly restored?: Restored
  readonly signal: AbortSignal
  /** Journals events; resolves once they are durable. */
  record(events: readonly EventBody[]): Promise<unknown>
  onDelta(delta: Delta): void
  /** Runs one granted call on the main side; never rejects for the tool's own failure. */
  runCall(call: ToolCall): Promise<ToolOutcome>
  /** Told of the outcomes the far side handed in. */
  heard(outcomes: readonly ToolOutcome[]): void
  /** How its history is kept within what its model holds (PRO-08); none for a program. */
  readonly compaction?: {
    /** Tokens. */
    readonly window: number
    readonly compactAt: number
    readonly autoCompactWindow?: number
    /** Whether the model refused a request as too long. */
    isOverflow(error: unknown): boolean
  }
  /** What each request ends with and no history keeps (DEL-11); null: nothing. */
  trailer?(): string | null
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

export type Session = {
  readonly host: Host
  progress(): Progress
  /** The conversation so far, as its model was shown it. */
  messages(): readonly Message[]
  /** Turns it may still have. */
  turnsLeft(): number
  /** Resolves when none of the calls that ran on this side is under way any more: a stop ends the wait for a call, not the call. */
  settled(): Promise<unknown>
}

/** One agent's conversation on the main side, and the innermost host over it: journal, then act (JRN-02). */
export function openSession(options: SessionOptions): Session {
  const { agent, model, record, signal, mailbox, restored, compaction } = options
  let messages: Message[] = [...options.messages]
  /** Messages that stay whatever is summed up. */
  let beginning = restored?.beginning ?? messages.length
  let used: Usage | null = null
  /** Outcomes that are to be journaled with the start of the next turn. */
  let unwritten: readonly EventBody[] = []
  const reads = new Map<string, FileRead>()
  const notes: string[] = [...(restored?.notes ?? [])]
  const callIds = new Set<string>(restored?.callIds)
  /** Turns of earlier runs count for none of this one's limits and figures. */
  const turnsBefore = restored?.turnsBefore ?? 0
  const lastTurn = turnsBefore + options.maxTurns
  let readsKnown = restored === undefined
  let turn = restored?.turn ?? 0
  let asked = restored?.asked ?? false
  let toolCalls = restored?.toolCalls ?? 0
  let usage = NO_USAGE
  let costUsd = 0
  let usedModel = model.id
  let output = restored?.output ?? ''
  let value: Json | null = restored?.value ?? null
  let inHand: readonly ToolCall[] = []
  /** A reply of before the interruption that is still to be handed out. */
  let pending = restored?.reply ?? null
  /** Outcomes of this side's own calls: what the far side hands in for them is not taken. */
  let own = new Map<string, ToolOutcome>()
  const underWay = new Set<Promise<ToolOutcome>>()

  for (const request of restored?.spent ?? []) pay(request.model, request.usage)
  for (const message of messages) if (message.role === 'assistant') for (const { id } of message.calls) callIds.add(id)

  function pay(by: string, used: Usage): void {
    usage = addUsage(usage, used)
    // Request by request: a price may depend on how long one is.
    costUsd += options.cost(by, used)
    usedModel = by
  }

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
    options.heard(outcomes.filter(({ callId }) => !own.has(callId)))
    messages.push({ role: 'tool', outcomes })
    inHand = []
    own = new Map()
    return events
  }

  /** The reply of before an interruption, with those of its calls that have no outcome yet; null when there is nothing left of it. */
  function handOutAgain(): Reply | null {
    const reply = pending
    pending = null
    if (reply === null) return null
    const answered = new Map((restored?.outcomes ?? []).map((outcome) => [outcome.callId, outcome]))
    const open = reply.calls.filter(({ id }) => !answered.has(id))
    if (turn >= lastTurn && reply.calls.length > 0) throw turnLimit(options.maxTurns)
    inHand = reply.calls
    own = answered
    return reply.calls.length === 0 || open.length > 0 ? { ...reply, calls: open } : null
  }

  const compactor = compaction && createCompactor({
    system: options.system,
    tools: options.tools,
    ...compaction,
    signal,
    async ask(request) {
      // It takes seconds: what has come out meanwhile is not to be lost.
      await writeUp()
      return model.generate({ ...request, agent, turn, time: options.now() }, { signal, onDelta: () => {} })
    },
  })

  /** Sums up what is too long for the model's request in turn `number`; null: nothing is, or it could not be. */
  async function compact(number: number, forced: boolean): Promise<Summary | null> {
    if (!compactor) return null
    // What it is about to read counts, and is read only when the turn begins.
    const mail = mailbox.peek()
    const done = await compactor.run({ messages: [...messages, ...mail], keepFirst: beginning, turn: number - 1 }, { used, forced })
    if (!done) return null
    const { spent, note, summary, history } = done
    if (spent) pay(spent.model, spent.usage)
    if (note) notes.push(note)
    if (summary === null) {
      if (spent) unwritten = [...unwritten, { type: 'usage.lost', data: spent }]
      return null
    }
    messages = history.messages.slice(0, history.messages.length - mail.length)
    beginning = history.keepFirst
    return summary
  }

  /**
   * Begins a turn, or begins it again with a shorter history. What has come by now is read and journaled as read in one step: nothing is waited for in
   * between, so no message is taken for read that was not (STR-02, JRN-03).
   */
  function begin(number: number, injected: readonly string[], summary: Summary | null): Promise<unknown> {
    turn = number
    const mail = mailbox.read()
    messages.push(...mail.messages, ...injected.map((text): Message => ({ role: 'user', text, synthetic: 'reminder' })))
    return writeUp([...mail.events, { type: 'turn.started', data: { turn, injected, ...(summary && { summary }) } }])
  }

  /** Journals what is still to be journaled, and `more` after it. */
  function writeUp(more: readonly EventBody[] = []): Promise<unknown> {
    const events = [...unwritten, ...more]
    unwritten = []
    return record(events)
  }

  /** The model's reply to the conversation as it stands, which is shortened once where it turns out to be too long. */
  async function generate(): Promise<Reply> {
    try {
      return await model.generate(request(), { signal, onDelta: options.onDelta })
    } catch (error) {
      const summary = compaction?.isOverflow(error) ? await compact(turn, true) : null
      if (summary === null) throw error
      await begin(turn, [], summary)
      return model.generate(request(), { signal, onDelta: options.onDelta })
    }
  }

  function request(): ModelRequest {
    const trailer = options.trailer?.() ?? null
    return {
      agent,
      turn,
      time: options.now(),
      system: options.system,
      tools: options.tools,
      messages: trailer === null ? messages : [...messages, { role: 'user', text: trailer, synthetic: 'anchors' }],
      ...(options.effort !== undefined && { effort: options.effort }),
      ...(options.cacheTtl && { cacheTtl: options.cacheTtl }),
    }
  }

  /** One turn. `before` is journaled with its start: nothing is asked before it is there. */
  async function ask(before: readonly EventBody[]): Promise<Reply> {
    unwritten = before
    if (turn >= lastTurn) {
      await writeUp()
      throw turnLimit(options.maxTurns)
    }
    const number = turn + 1
    const summary = await compact(number, false)
    const injected = number === lastTurn && model.id !== 'script' && !asked ? [LAST_TURN] : []
    asked = false
    await begin(number, injected, summary)
    const reply = uniqueCalls(await generate(), callIds)
    pay(reply.model, reply.usage)
    used = reply.usage
    if (reply.text) output = reply.text
    if (reply.value !== undefined) value = reply.value
    notes.push(...(reply.notes ?? []))
    toolCalls += reply.calls.length
    messages.push({ role: 'assistant', text: reply.text, calls: reply.calls, ...(reply.opaque !== undefined && { opaque: reply.opaque }) })
    const spent = turn >= lastTurn && reply.calls.length > 0
    await record([
      { type: 'turn.ended', data: { turn, reply } },
      ...(spent ? [] : reply.calls.map((call): EventBody => ({ type: 'tool.started', data: { turn, call } }))),
    ])
    if (spent) throw turnLimit(options.maxTurns)
    inHand = reply.calls
    return reply
  }

  async function runOwn(call: ToolCall): Promise<ToolOutcome> {
    if (!inHand.some(({ id }) => id === call.id)) throw new CadreError('INVARIANT', `The call ${call.id} of ${agent} was not handed out`)
    const outcome = await options.runCall(call)
    await record([{ type: 'tool.ended', data: { turn, outcome } }])
    own.set(call.id, outcome)
    return outcome
  }

  return {
    host: {
      async next(outcomes) {
        return handOutAgain() ?? ask(settle(outcomes))
      },
      call: (calls) => Promise.all(calls.map((call) => {
        const running = runOwn(call)
        underWay.add(running)
        running.catch(() => undefined).finally(() => underWay.delete(running))
        return running
      })),
    },
    settled: () => Promise.allSettled(underWay),
    progress: () => ({
      output,
      value,
      turns: turn - turnsBefore,
      toolCalls,
      usage,
      costUsd,
      model: usedModel,
      notes,
      reads: readsKnown ? [...reads.values()] : null,
    }),
    messages: () => messages,
    turnsLeft: () => lastTurn - turn,
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
