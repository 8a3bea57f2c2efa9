import { noOutcome } from './core/contract.ts'
import type { Brief, ToolCall, ToolOutcome, Verdict } from './core/contract.ts'
import { CadreError, messageOf } from './core/errors.ts'
import type { JsonObject } from './core/json.ts'
import type { ToolAnswer } from './core/tool.ts'
import type { ProgramRun } from './program-run.ts'
import type { Services } from './services.ts'
import { briefOf } from './supervisor.ts'
import type { Agent } from './supervisor.ts'
import type { MainContext, Tool } from './tools/define-tool.ts'

/** What running an agent's calls needs besides the services. */
export type CallDoors = {
  /** Its rights. */
  decide(call: ToolCall): Verdict
  /** What its tools work with, for one call. */
  context(callId: string, signal: AbortSignal): Omit<MainContext, 'program'>
  /** Runs a program of its (PRG-03). */
  program: ProgramRun
  /** Null when a call may run, else what its model is told. */
  approved(call: ToolCall, tool: Tool): Promise<ToolOutcome | null>
  /** Told of what was read and written, by whichever side. */
  heard(outcomes: readonly ToolOutcome[]): void
}

/** One agent's calls on the main side. */
export type Calls = {
  /** Runs a granted call. Never rejects for the tool's own failure (TOO-01). */
  run(call: ToolCall): Promise<ToolOutcome>
  /** The same for a call its own program makes: it is decided over first. */
  runInner(call: ToolCall, signal: AbortSignal): Promise<ToolOutcome>
}

export function createCalls(services: Services, agent: Agent, doors: CallDoors): Calls {
  const { toolbox } = services
  const { grant } = agent.started
  /** What changes things happens one after the other, in the order of the calls: each may rest on the one before. */
  let changes: Promise<unknown> = Promise.resolve()

  /** In its turn among the changes, and at the gate where its agent does not hold it anyway (KIN-05). What it can do is what it was granted. */
  function inTurn<T>({ name }: Tool, signal: AbortSignal, work: () => Promise<T>): Promise<T> {
    const effect = grant.tools.find((tool) => tool.name === name)?.effect
    if (effect !== 'write' && effect !== 'execute') return work()
    const mine = changes.then(() => (agent.subject.depth === 0 ? gated(services, agent, signal, work) : work()))
    changes = mine.catch(() => undefined)
    return mine
  }

  /** `form`: of what a read call gives, which is for a program where that made the call. */
  async function run(call: ToolCall, signal: AbortSignal, form: Brief['form']): Promise<ToolOutcome> {
    const tool = toolbox.find(call.name)
    try {
      if (!tool) throw new CadreError('INVARIANT', `There is no tool ${call.name}`)
      if (isInDoubt(agent, call) && !tool.repeatable) throw new Error(inDoubtText(services, agent, call))
      const refused = await doors.approved(call, tool)
      if (refused) return refused
      if (!tool.run) return await readCall(call, signal, form)
      const { run: start } = tool
      const context = { ...doors.context(call.id, signal), program: (code: string, seconds: number) => doors.program({ code, seconds, callId: call.id }) }
      const answer = await inTurn(tool, signal, () => start(call.input as JsonObject, context))
      return outcomeOf(call, answer)
    } catch (error) {
      return { callId: call.id, tool: call.name, ok: false, text: `Error: ${messageOf(error)}` }
    }
  }

  /** A read call that its agent's own thread does not run. */
  async function readCall(call: ToolCall, signal: AbortSignal, form: Brief['form']): Promise<ToolOutcome> {
    const [outcome] = await services.readCalls({ brief: briefOf(agent, form), calls: [{ ...call, local: true }], signal })
    return outcome ?? noOutcome(call)
  }

  async function runInner(call: ToolCall, signal: AbortSignal): Promise<ToolOutcome> {
    const verdict = doors.decide(call)
    return verdict.kind === 'refused' ? verdict.outcome : run(verdict.call, signal, 'data')
  }

  const told = async (outcome: Promise<ToolOutcome>): Promise<ToolOutcome> => {
    const come = await outcome
    doors.heard([come])
    return come
  }
  return { run: (call) => told(run(call, agent.signal, 'text')), runInner: (call, signal) => told(runInner(call, signal)) }
}

const outcomeOf = (call: ToolCall, { text, ok = true, reads, hands }: ToolAnswer): ToolOutcome =>
  ({ callId: call.id, tool: call.name, ok, text, ...(reads && { reads }), ...(hands && { hands }) })

/** JRN-04: handed out before the process ended, and nobody knows what became of it. */
const isInDoubt = ({ restored }: Agent, { id }: ToolCall): boolean => restored?.reply?.calls.some((call) => call.id === id) === true

/** A program may have started agents: they go on, and their results come on their own. */
function inDoubtText({ journal }: Services, { subject }: Agent, { id }: ToolCall): string {
  const started = journal.children(subject.agent).flatMap((row) => (row.callId?.startsWith(`${id}/`) ? [`${row.id} (${row.title})`] : []))
  const agents = started.length > 0 ? ` It had started ${started.join(', ')}: see agent_check.` : ''
  return `Outcome unknown: the process ended during this call. Check the state before you repeat it.${agents}`
}

/** KIN-05: the root run holds the gate for each of its calls that change things. */
async function gated<T>(services: Services, agent: Agent, signal: AbortSignal, work: () => Promise<T>): Promise<T> {
  const gate = services.gate(agent.started.grant.root)
  const { gateWait } = services.limits()
  const limit = AbortSignal.timeout(gateWait * 1000)
  const writer = { agent: agent.subject.agent, title: agent.started.title, ancestors: [] }
  const hold = await gate.enter(writer, AbortSignal.any([signal, limit])).catch((error: unknown) => {
    const { holder } = gate
    if (!limit.aborted || !holder) throw error
    throw new Error(`The workspace is held by ${holder.agent} (${holder.title}). Use agent_wait or agent_stop.`, { cause: error })
  })
  try {
    return await work()
  } finally {
    hold.leave()
  }
}
