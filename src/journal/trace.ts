import type { CadreEvent } from '../core/events.ts'

/** One entry of the trace event format that browsers' tracing views read (chrome://tracing, ui.perfetto.dev). Times in microseconds. */
export type TraceEvent = {
  readonly name: string
  readonly cat?: string
  readonly ph: 'X' | 'M' | 'C' | 'i' | 'b' | 'e'
  readonly ts?: number
  readonly dur?: number
  readonly pid: number
  readonly tid?: number
  readonly id?: string
  readonly s?: 't'
  readonly args?: Readonly<Record<string, unknown>>
}

const MICROSECONDS = 1_000
const INPUT_CHARS = 500

type Open = { readonly from: number; readonly name: string; readonly cat: string; readonly args: Readonly<Record<string, unknown>> }
/** `last`: the time of its last event so far. */
type Counted = { readonly pid: number; running: number; asking: number; last: number }
type Track = { readonly own: Counted; readonly tid: number; program: boolean; queued: Open | null; run: Open | null; turn: Open | null; readonly calls: Map<string, Open> }

/**
 * Where the time of sessions went: a process per session and a track per agent, with its wait in the queue, its run, its model calls (a program's own
 * running under `program`) and its tool calls; and how many agents ran, and waited for their models, at each moment. What never ended goes on to
 * the last event. In order of the events.
 */
export function* traceOf(events: Iterable<CadreEvent>): Generator<TraceEvent, void, undefined> {
  const tracks = new Map<string, Track>()
  const sessions = new Map<string, Counted>()

  const session = (id: string) => {
    const known = sessions.get(id) ?? { pid: sessions.size + 1, running: 0, asking: 0, last: 0 }
    sessions.set(id, known)
    return known
  }
  const span = ({ own: { pid, last }, tid }: Track, { from, name, cat, args }: Open, more: Readonly<Record<string, unknown>> = {}): TraceEvent =>
    ({ name, cat, ph: 'X', ts: from * MICROSECONDS, dur: (last - from) * MICROSECONDS, pid, tid, args: { ...args, ...more } })
  /** Calls of one turn overlap: each has a row of its own. */
  function* call({ own: { pid, last }, tid }: Track, callId: string, { from, name, cat, args }: Open, more: Readonly<Record<string, unknown>> = {}): Generator<TraceEvent> {
    const id = `${tid}/${callId}`
    yield { name, cat, ph: 'b', id, ts: from * MICROSECONDS, pid, tid, args }
    yield { name, cat, ph: 'e', id, ts: last * MICROSECONDS, pid, tid, args: more }
  }
  const counter = ({ pid, running, asking, last }: Counted): TraceEvent =>
    ({ name: 'agents', ph: 'C', ts: last * MICROSECONDS, pid, args: { 'at work': running - asking, 'waiting for a model': asking } })

  /** All that is open on a track ends now. */
  function* rest(track: Track, ended: Readonly<Record<string, unknown>>): Generator<TraceEvent> {
    if (track.queued) yield span(track, track.queued, ended)
    if (track.turn) yield span(track, track.turn, ended)
    for (const [id, begun] of track.calls) yield* call(track, id, begun, ended)
    if (track.run) yield span(track, track.run, ended)
    if (track.turn && !track.program) track.own.asking -= 1
    if (track.run) {
      track.own.running -= 1
      yield counter(track.own)
    }
    track.queued = track.turn = track.run = null
    track.calls.clear()
  }

  for (const event of events) {
    const { agent, session: id, time, type, data } = event
    const own = session(id)
    own.last = Math.max(own.last, time)
    const track = tracks.get(agent) ?? { own, tid: tracks.size + 1, program: false, queued: null, run: null, turn: null, calls: new Map<string, Open>() }
    const open = (name: string, cat: string, args: Readonly<Record<string, unknown>> = {}): Open => ({ from: time, name, cat, args })
    switch (type) {
      case 'session.started':
        yield { name: 'process_name', ph: 'M', pid: own.pid, args: { name: `${data.kind}: ${data.title} (${id})` } }
        break
      case 'delegation.queued':
      case 'delegation.started':
        if (!tracks.has(agent)) {
          tracks.set(agent, track)
          yield { name: 'thread_name', ph: 'M', pid: own.pid, tid: track.tid, args: { name: `${data.title} (${data.agentType}, ${agent})` } }
          yield { name: 'thread_sort_index', ph: 'M', pid: own.pid, tid: track.tid, args: { sort_index: track.tid } }
        }
        if (type === 'delegation.queued') {
          track.queued = open('queued', 'queue')
          break
        }
        if (track.queued) yield span(track, track.queued)
        track.queued = null
        track.run = open(data.title, 'agent', { agent, type: data.agentType, model: data.model })
        track.program = data.model === 'script'
        own.running += 1
        yield counter(own)
        break
      case 'turn.started':
        track.turn = open(`turn ${data.turn}`, track.program ? 'program' : 'model')
        if (track.program) break // it is at work itself
        own.asking += 1
        yield counter(own)
        break
      case 'turn.ended':
        if (!track.turn) break
        yield span(track, track.turn, { model: data.reply.model, usage: data.reply.usage, calls: data.reply.calls.length })
        track.turn = null
        if (track.program) break
        own.asking -= 1
        yield counter(own)
        break
      case 'tool.started':
        track.calls.set(data.call.id, open(data.call.name, 'tool', { input: JSON.stringify(data.call.input).slice(0, INPUT_CHARS) }))
        break
      case 'tool.ended': {
        const begun = track.calls.get(data.outcome.callId)
        track.calls.delete(data.outcome.callId)
        if (begun) yield* call(track, data.outcome.callId, begun, { ok: data.outcome.ok, chars: data.outcome.text.length })
        break
      }
      case 'delegation.ended': {
        const { status, cause, turns, toolCalls, usage, costUsd } = data.result
        yield* rest(track, { status, cause, turns, toolCalls, usage, costUsd })
        break
      }
      case 'rate.paused':
        yield { name: `paused: ${data.reason}`, cat: 'rate', ph: 'i', s: 't', ts: time * MICROSECONDS, pid: own.pid, tid: track.tid, args: { waitMs: data.waitMs } }
        break
      default:
        break
    }
  }
  for (const track of tracks.values()) yield* rest(track, { status: 'has not ended' })
}

/** The text of a trace file, piece by piece, over the events of each session. */
export function* traceText(sessions: Iterable<Iterable<CadreEvent>>): Generator<string> {
  yield '{"displayTimeUnit":"ms","traceEvents":['
  let comma = ''
  for (const entry of traceOf(oneAfterTheOther(sessions))) {
    yield `${comma}\n${JSON.stringify(entry)}`
    comma = ','
  }
  yield '\n]}\n'
}

function* oneAfterTheOther(sessions: Iterable<Iterable<CadreEvent>>): Generator<CadreEvent> {
  for (const events of sessions) yield* events
}
