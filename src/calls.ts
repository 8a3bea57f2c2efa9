import type { Brief, ToolCall, ToolOutcome, Verdict } from './core/contract.ts'
import { noOutcome } from './core/contract.ts'
import { CadreError, messageOf } from './core/errors.ts'
import type { JsonObject } from './core/json.ts'
import type { ToolAnswer } from './core/tool.ts'
import { companionsOf } from './companions.ts'
import type { CodeResult } from './programs/run-code.ts'
import { turnOf } from './ready.ts'
import type { Services } from './services.ts'
import type { Agent } from './supervisor.ts'

/** What running an agent's calls needs besides the services. */
export type CallDoors = {
  /** Its rights, for calls that a program of it makes. */
  decide(call: ToolCall): Verdict
  /** Its `agent` tool. */
  delegate(input: JsonObject, callId: string): Promise<ToolAnswer>
}

/** What a program is not handed: it is one already. */
export const RUN_CODE = 'run_code'

/** PRG-03: characters of a program's value. */
const VALUE_CHARS = 30_000

/** Runs one granted call on the main side. A tool's own failure is an outcome (TOO-01). */
export async function runCall(services: Services, agent: Agent, doors: CallDoors, call: ToolCall): Promise<ToolOutcome> {
  const tool = services.toolbox.find(call.name)
  try {
    if (!tool?.run) throw new CadreError('INVARIANT', `${call.name} does not run on the main side`)
    if (isInDoubt(agent, call) && !tool.repeatable) throw new Error('Outcome unknown: the process ended during this call. Check the state before you repeat it.')
    const answer = await tool.run(call.input as JsonObject, {
      root: agent.started.grant.root,
      signal: agent.signal,
      callId: call.id,
      delegate: doors.delegate,
      companions: companionsOf(services, agent),
      blame: (path, lines) => services.blame(path, lines, agent.signal),
      program: (code, seconds) => runProgram(services, agent, doors, { code, seconds, callId: call.id }),
    })
    // A call that reads no files itself rests on none; those of a sub-agent or a program come with its answer when they are known.
    const reads = tool.effect === 'delegate' || tool.name === RUN_CODE ? answer.reads : (answer.reads ?? [])
    return { callId: call.id, tool: call.name, ok: true, text: answer.text, ...(reads && { reads }), ...(answer.hands && { hands: answer.hands }) }
  } catch (error) {
    return { callId: call.id, tool: call.name, ok: false, text: `Error: ${messageOf(error)}` }
  }
}

/** JRN-04: handed out before the process ended, and nobody knows what became of it. */
const isInDoubt = ({ restored }: Agent, { id }: ToolCall): boolean => restored?.reply?.calls.some((call) => call.id === id) === true

/** PRG-03: each call of the program passes what a call of its agent passes, and is journaled like one. */
async function runProgram(services: Services, agent: Agent, doors: CallDoors, { code, seconds, callId }: { readonly code: string; readonly seconds: number; readonly callId: string }): Promise<ToolAnswer> {
  const { grant } = agent.started
  const limit = AbortSignal.timeout(seconds * 1000)
  const tools = grant.tools.map(({ name }) => name).filter((name) => name !== RUN_CODE)
  const outcomes: ToolOutcome[] = []
  const run = async (calls: readonly ToolCall[]) => {
    const turn = turnOf(agent)
    await services.crew.record(agent.subject, calls.map((call) => ({ type: 'tool.started', data: { turn, call } })))
    return Promise.all(calls.map(async (call) => {
      const outcome = await innerCall(services, agent, doors, call)
      await services.crew.record(agent.subject, [{ type: 'tool.ended', data: { turn, outcome } }])
      outcomes.push(outcome)
      return outcome
    }))
  }
  const result = await services.runCode({ code, callId, tools, run, signal: AbortSignal.any([agent.signal, limit]) }).catch((error: unknown) => {
    if (limit.aborted) throw new Error(`Program stopped: it ran for ${seconds} s.`, { cause: error })
    throw error
  })
  const hands = outcomes.flatMap((outcome) => outcome.hands ?? [])
  const known = outcomes.every(({ ok, reads }) => !ok || reads !== undefined)
  return { text: codeText(result), ...(known && { reads: outcomes.flatMap(({ reads }) => reads ?? []) }), ...(hands.length > 0 && { hands }) }
}

async function innerCall(services: Services, agent: Agent, doors: CallDoors, call: ToolCall): Promise<ToolOutcome> {
  const verdict = doors.decide(call)
  if (verdict.kind === 'refused') return verdict.outcome
  if (!verdict.call.local) return runCall(services, agent, doors, verdict.call)
  const { grant } = agent.started
  const brief: Brief = { agent: agent.subject.agent, type: grant.type, root: grant.root, paths: grant.paths, form: 'data' }
  const [outcome] = await services.readCalls({ brief, calls: [verdict.call], signal: agent.signal })
  return outcome ?? noOutcome(call)
}

function codeText({ value, log, note }: CodeResult): string {
  const whole = value === undefined ? 'null' : JSON.stringify(value)
  const shown = whole.length <= VALUE_CHARS ? whole : `${whole.slice(0, VALUE_CHARS)}\n[${whole.length - VALUE_CHARS} more characters: return less]`
  return [shown.toWellFormed(), ...(note ? [`Note: ${note}`] : []), ...(log.trim() ? [`Log:\n${log.trimEnd()}`] : [])].join('\n')
}
