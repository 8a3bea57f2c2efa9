import { SCRIPTED_ID } from '../src/cli/bench/wire.ts'
import type { EventBody, NewEvent } from '../src/core/events.ts'

const TEXT_CHARS = 600
const EVENTS_PER_TURN = 4
const TURNS_PER_AGENT = 5

const BEGIN: EventBody = { type: 'session.started', data: { kind: 'run', title: 'bench', cwd: '/', root: '/', version: '0' } }

/** A session of so many events, as agents leave them: turns of one call each, a few hundred characters an answer. */
export function story(count: number): readonly NewEvent[] {
  const subject = { session: 'ss-bench', root: 'sa-bench', parent: null, depth: 0 } as const
  return Array.from({ length: count }, (_, i): NewEvent => {
    const agent = `sa-${Math.floor(i / EVENTS_PER_TURN / TURNS_PER_AGENT)}`
    return { ...subject, agent, time: i, ...(i === 0 ? BEGIN : turnEvent(Math.floor(i / EVENTS_PER_TURN), i % EVENTS_PER_TURN)) }
  })
}

function turnEvent(at: number, step: number): EventBody {
  const turn = 1 + (at % TURNS_PER_AGENT)
  const call = { id: `call_${at}`, name: 'read', input: { path: `src/part-${at}.ts` }, local: true }
  const reply = { text: '', calls: [call], usage: { input: 900, output: 40, cacheRead: 0, cacheWrite: 0 }, model: SCRIPTED_ID }
  const steps: readonly EventBody[] = [
    { type: 'turn.started', data: { turn, injected: [] } },
    { type: 'turn.ended', data: { turn, reply } },
    { type: 'tool.started', data: { turn, call } },
    { type: 'tool.ended', data: { turn, outcome: { callId: call.id, tool: 'read', ok: true, text: 'x'.repeat(TEXT_CHARS) } } },
  ]
  return steps[step] ?? BEGIN
}
