import type { ToolCall, ToolOutcome } from './core/contract.ts'
import { messageOf } from './core/errors.ts'
import type { ToolAnswer } from './core/tool.ts'
import type { CodeResult } from './programs/run-code.ts'
import { turnOf } from './ready.ts'
import { createRunClock } from './schedule/run-clock.ts'
import type { Services } from './services.ts'
import type { Agent } from './supervisor.ts'

/** Runs a program that an agent's model wrote, for so many seconds of its own (PRG-03). */
export type ProgramRun = (program: { readonly code: string; readonly seconds: number; readonly callId: string }) => Promise<ToolAnswer>

/** PRG-03: characters of a program's value. */
const VALUE_CHARS = 30_000

/**
 * Each call of the program passes what a call of its agent passes, and is journaled like one. The time it waits for sub-agents is theirs. What a
 * program that failed was handed is named: its model has seen none of it.
 */
export const programRun = (services: Services, agent: Agent, { tools, waits, runCall }: {
  readonly tools: readonly string[]
  /** Whether a call of this name waits for sub-agents. */
  waits(tool: string): boolean
  runCall(call: ToolCall, signal: AbortSignal): Promise<ToolOutcome>
}): ProgramRun => async ({ code, seconds, callId }) => {
  const limit = new AbortController()
  const clock = createRunClock()
  const signal = AbortSignal.any([agent.signal, limit.signal])
  const outcomes: ToolOutcome[] = []

  async function runOne(call: ToolCall, turn: number): Promise<ToolOutcome> {
    const work = () => runCall(call, signal)
    const outcome = await (waits(call.name) ? clock.without(work) : work())
    outcomes.push(outcome)
    await services.crew.record(agent.subject, [{ type: 'tool.ended', data: { turn, outcome } }])
    return outcome
  }

  async function run(calls: readonly ToolCall[]): Promise<readonly ToolOutcome[]> {
    // Before its first calls it is started and computes, which has limits of its own (PRG-04).
    if (!clock.started) clock.start()
    const turn = turnOf(agent)
    await services.crew.record(agent.subject, calls.map((call) => ({ type: 'tool.started', data: { turn, call } })))
    const ends = await Promise.allSettled(calls.map((call) => runOne(call, turn)))
    return ends.map((end) => {
      if (end.status === 'rejected') throw end.reason
      return end.value
    })
  }

  const callOff = clock.at(seconds * 1000, () => limit.abort(new Error(`Program stopped: it ran for ${seconds} s.`)))
  try {
    return { text: codeText(await services.runCode({ code, callId, tools, run, signal })), ...ground(outcomes) }
  } catch (error) {
    agent.signal.throwIfAborted()
    const lost = outcomes.flatMap((outcome) => outcome.hands ?? [])
    const note = lost.length > 0 ? `\nIt was handed the results of ${lost.join(', ')}: see them with agent_check.` : ''
    return { ok: false, text: `Error: ${messageOf(error)}${note}`, ...ground(outcomes) }
  } finally {
    callOff()
  }
}

/** What it rests on, while all of it is known. */
function ground(outcomes: readonly ToolOutcome[]): Pick<ToolAnswer, 'reads' | 'hands'> {
  const known = outcomes.every(({ ok, reads }) => !ok || reads !== undefined)
  const hands = outcomes.flatMap((outcome) => outcome.hands ?? [])
  return { ...(known && { reads: outcomes.flatMap(({ reads }) => reads ?? []) }), ...(hands.length > 0 && { hands }) }
}

function codeText({ value, log, note }: CodeResult): string {
  const whole = value === undefined ? 'null' : JSON.stringify(value)
  const shown = whole.length <= VALUE_CHARS ? whole : `${whole.slice(0, VALUE_CHARS)}\n[${whole.length - VALUE_CHARS} more characters: return less]`
  return [shown.toWellFormed(), ...(note ? [`Note: ${note}`] : []), ...(log.trim() ? [`Log:\n${log.trimEnd()}`] : [])].join('\n')
}
