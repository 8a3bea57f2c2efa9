import type { Message, Reply, ToolCall, ToolOutcome } from '../../src/core/contract.ts'
import type { EventBody, Sender, Summary } from '../../src/core/events.ts'
import type { Letter } from '../../src/core/letter.ts'
import { letterMessage } from '../../src/core/letter.ts'
import type { Restored } from '../../src/core/restored.ts'
import { applySummary } from '../../src/core/summary.ts'
import { call, callEnded, callStarted, ended, noticed, sent, started, turnEnded, turnStarted } from './story.ts'

/** What may happen to an agent next; what makes no sense at that moment does not happen. */
export type Step =
  | { readonly kind: 'mail'; readonly from: Sender }
  | { readonly kind: 'ask'; readonly notices: number; readonly injects: boolean; readonly summarizes: number | null; readonly origin: boolean }
  | { readonly kind: 'reply'; readonly calls: number; readonly text: string }
  | { readonly kind: 'outcome'; readonly of: number }
  | { readonly kind: 'crash' }
  | { readonly kind: 'end' }

/**
 * A root run as a session holds it in memory: it journals what happens to it, and keeps its conversation by itself, so that what the journal makes
 * of the events can be held against it.
 */
export function liveAgent() {
  let history = { messages: [{ role: 'user', text: 'Go.' }] as readonly Message[], keepFirst: 1, turn: 0 }
  let unread: readonly Letter[] = []
  let reply: Reply | null = null
  let outcomes = new Map<string, ToolOutcome>()
  let asked = false
  let summed = 0
  let count = 0
  let turnsBefore = 0

  const say = (...messages: readonly Message[]) => {
    history = { ...history, messages: [...history.messages, ...messages] }
  }
  const read = () => {
    say(...unread.map(letterMessage))
    unread = []
  }
  const open = () => reply?.calls.filter(({ id }) => !outcomes.has(id)) ?? []
  const settle = (without: (call: ToolCall) => ToolOutcome) => {
    if (reply && reply.calls.length > 0) say({ role: 'tool', outcomes: reply.calls.map((one) => outcomes.get(one.id) ?? without(one)) })
    reply = null
    outcomes = new Map()
  }

  function mail(from: Sender): readonly EventBody[] {
    count += 1
    const text = `letter ${count}`
    unread = [...unread, { text, from }]
    return [sent(text, from)]
  }

  /** Notices are journaled with the turn that reads them: until then they are in the outbox. */
  function notice(): EventBody {
    count += 1
    const body = noticed(`sa-${count}`)
    unread = [...unread, { text: `notice of sa-${count}`, from: 'result' }]
    return body
  }

  function ask({ notices, injects, summarizes, origin }: Extract<Step, { kind: 'ask' }>): readonly EventBody[] {
    if (asked || open().length > 0) return []
    settle(() => { throw new Error('all calls are answered') })
    const turn = history.turn + 1
    const turns = summarizes === null || history.turn < 1 ? null : Math.max(summed, 1 + (summarizes % history.turn))
    const summary: Summary | undefined = turns === null
      ? undefined
      : { text: `up to ${turns}`, turns, ...(origin && { origin: true }), model: 'test/model', usage: { input: 9, output: 9, cacheRead: 0, cacheWrite: 0 } }
    if (summary) {
      history = applySummary(history, summary)
      summed = summary.turns
    }
    const journaled = Array.from({ length: notices }, notice)
    read()
    const injected = injects ? [`turn ${turn}`] : []
    say(...injected.map((text): Message => ({ role: 'user', text, synthetic: 'reminder' })))
    asked = true
    return [...journaled, turnStarted(turn, injected, summary)]
  }

  function answer(calls: number, text: string): readonly EventBody[] {
    if (!asked) return []
    const turn = history.turn + 1
    const own = Array.from({ length: calls }, (_, n) => call(`c${turn}-${n}`))
    asked = false
    say({ role: 'assistant', text, calls: own })
    history = { ...history, turn }
    const body = turnEnded(turn, text, own)
    if (body.type === 'turn.ended') reply = body.data.reply
    return [body, ...own.map((one) => callStarted(turn, one))]
  }

  function outcome(of: number): readonly EventBody[] {
    const waiting = open()
    const one = waiting[of % Math.max(1, waiting.length)]
    if (!one) return []
    const body = callEnded(history.turn, one)
    if (body.type === 'tool.ended') outcomes.set(one.id, body.data.outcome)
    return [body]
  }

  return {
    begin: (): readonly EventBody[] => [started({ prompt: 'Go.' })],
    step(step: Exclude<Step, { kind: 'crash' }>): readonly EventBody[] {
      switch (step.kind) {
        case 'mail':
          return mail(step.from)
        case 'ask':
          return ask(step)
        case 'reply':
          return answer(step.calls, step.text)
        case 'outcome':
          return outcome(step.of)
        case 'end':
          settle(({ id, name }) => ({ callId: id, tool: name, ok: false, text: 'Error: the run ended before this call was answered.' }))
          asked = false
          turnsBefore = history.turn
          return [ended()]
      }
    },
    /** Goes on from what the journal has, as another process would, and journals what that does. */
    resume(restored: Restored): readonly EventBody[] {
      history = { messages: restored.messages, keepFirst: restored.beginning, turn: restored.turn }
      unread = restored.unread
      ;({ reply } = restored)
      outcomes = new Map(restored.outcomes.map((one) => [one.callId, one]))
      if (!restored.asked) return [started({ prompt: 'Go.' })]
      read()
      return [started({ prompt: 'Go.' }), turnStarted(history.turn + 1)]
    },
    /** What the journal should restore at this moment. */
    standing: () => ({
      messages: history.messages,
      beginning: history.keepFirst,
      turn: history.turn,
      turnsBefore,
      asked,
      reply,
      outcomes: reply?.calls.flatMap(({ id }) => outcomes.get(id) ?? []) ?? [],
      unread,
      notices: [],
    }),
  }
}
