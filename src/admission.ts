import { existsSync } from 'node:fs'
import { notStartedBy } from './companions.ts'
import type { AgentType } from './core/agent-type.ts'
import { CadreError } from './core/errors.ts'
import { isReadOnly, levelsBelow, mayName } from './core/grant.ts'
import type { Grant } from './core/grant.ts'
import type { JsonObject } from './core/json.ts'
import { narrow, noToolLeft, renarrow } from './core/narrow.ts'
import type { WantedByCall } from './core/narrow.ts'
import { STOPPED_BY_PARENT } from './core/status.ts'
import { placeOf } from './live-permissions.ts'
import { refusedType } from './permissions/judge.ts'
import { NO_DELEGATION } from './prompt.ts'
import { chosenHistory } from './prompts/history.ts'
import { readyAgent } from './ready.ts'
import type { Ready } from './ready.ts'
import type { Services } from './services.ts'
import type { Agent } from './supervisor.ts'
import { parseDelegation } from './tools/agent.ts'
import type { DelegationInput } from './tools/agent.ts'
import { outputCheck } from './tools/output-schema.ts'
import type { Worktree } from '../worktrees/worktree.ts'
import type { NoWorktree } from '../worktrees/worktrees.ts'

/** What comes with a delegation besides its input. */
export type Asked = { readonly callId: string; readonly environment: string; readonly worktree?: Worktree | NoWorktree }

/** Every check of AGT-03, in its order: input, type, model, grant, depth, queue. Throws for the first that fails. */
export function admitted(services: Services, parent: Agent, raw: JsonObject, asked: Asked): Ready {
  const parsed = parseDelegation(raw)
  if ('error' in parsed) throw new CadreError('REFUSED', parsed.error)
  const input = parsed.value
  if (input.outputSchema) outputCheck(input.outputSchema)
  const ready = input.continues === undefined ? admit(services, parent, input, asked) : admitContinued(services, parent, { input, id: input.continues, callId: asked.callId })
  if (parent.started.grant.depth === 0) throw new CadreError('REFUSED', NO_DELEGATION)
  const { slots, queued } = services.crew
  const { grant, background } = ready.started
  const waits = slots.isFull({ levels: levelsBelow(grant), background }) || (!isReadOnly(grant) && services.gate(grant.root).holder !== null)
  if (waits && queued >= services.limits().maxQueued) {
    throw new CadreError('REFUSED', `The queue is full (${slots.running} running, ${queued} queued). Wait for some with agent_wait, then try again.`)
  }
  return ready
}

function admit(services: Services, parent: Agent, input: DelegationInput, { callId, environment, worktree }: Asked): Ready {
  const type = typeFor(services, parent, input)
  refuseDenied(services, parent, type.name)
  const fork = input.fork || (input.type !== undefined && services.types.isFork(input.type))
  const forks = fork ? forkedFrom(parent, type) : null
  const own = forks ? ignoredByForks(input) : { input, notes: [] }
  const model = type.program ? null : forks?.model ? { id: forks.model, notes: [] }
    : services.chooseModel({ call: own.input.model ?? null, type: type.model, parent: parent.model })
  const wanted = wantedBy(input)
  const narrowed = narrow(parent.started.grant, type, wanted)
  if (narrowed.grant.tools.length === 0) throw new CadreError('REFUSED', noToolLeft(type, parent.started.grant, wanted))
  const background = inBackground(services, parent, type.background === true || input.background === true)
  const isolates = (input.isolation ?? type.isolation) === 'worktree'
  const ready = readyAgent(services, {
    subject: services.crew.newSubject(parent.subject),
    type,
    ...(worktree && { worktree }),
    narrowed,
    title: input.title ?? type.name,
    prompt: forks ? forkPrompt(input.prompt, narrowed.grant) : input.prompt,
    ...(!forks && { environment }),
    model,
    input: { ...own.input, notes: [...input.notes, ...own.notes, ...background.notes] },
    callId,
    inheritedEffort: parent.started.frozen.effort ?? null,
    background: background.value,
    forks,
    ...(!forks && !type.program && { history: chosenHistory(parent.session?.messages() ?? [], services.history) }),
    paced: parent.model !== null,
  })
  return { ...ready, isolates: isolates && worktree === undefined }
}

const wantedBy = (input: DelegationInput): WantedByCall => ({
  ...(input.readOnly !== undefined && { readOnly: input.readOnly }),
  ...(input.tools && { tools: input.tools }),
  ...(input.maxTurns !== undefined && { maxTurns: input.maxTurns }),
  ...(input.timeout !== undefined && { timeout: input.timeout }),
})

/** KIN-01, DEL-08: where no result could come on its own, a background call waits for it. */
function inBackground(services: Services, parent: Agent, wanted: boolean): { readonly value: boolean; readonly notes: readonly string[] } {
  if (!wanted) return { value: false, notes: [] }
  if (!services.notifies()) return { value: false, notes: ['notifications are off, so this ran in the foreground.'] }
  if (parent.model === null) return { value: false, notes: ['a program reads no notifications, so this ran in the foreground.'] }
  return { value: true, notes: [] }
}

/** KIN-02. */
function forkedFrom(parent: Agent, type: AgentType): Agent {
  if (parent.model === null) throw new CadreError('REFUSED', 'forkContext needs a conversation, and a program has none. Drop it.')
  if (type.program) throw new CadreError('REFUSED', `forkContext needs a language model, and ${type.name} runs a program. Drop it, or choose another type.`)
  return parent
}

function ignoredByForks({ model, effort, ...input }: DelegationInput): { readonly input: DelegationInput; readonly notes: readonly string[] } {
  const given = [...(model === undefined ? [] : ['model']), ...(effort === undefined ? [] : ['effort'])]
  return { input, notes: given.map((field) => `${field} was ignored: a fork keeps its parent's`) }
}

/** What a fork is told besides: it reads its parent's system prompt and sees its parent's tools. */
const forkPrompt = (prompt: string, { tools, depth }: Grant): string => [
  'From here on you are a sub-agent, forked from the conversation above. Your last message is your whole result: complete and short. Nobody answers questions: if blocked, say what you need and stop.',
  `You may use: ${tools.map(({ name }) => name).join(', ')}.${depth === 0 ? ` ${NO_DELEGATION}` : ''}`,
  '',
  prompt,
].join('\n')

/** STR-08…10: a new agent whose history is that of an ended one. */
function admitContinued(services: Services, parent: Agent, { input, id, callId }: { readonly input: DelegationInput; readonly id: string; readonly callId: string }): Ready {
  const { crew, journal } = services
  const above = parent.subject.agent
  const row = journal.children(above).find((child) => child.id === id)
  const before = journal.started(id)
  if (!row || !before) throw notStartedBy(id, journal.children(above).map((child) => child.id))
  const refuse = (why: string) => new CadreError('REFUSED', `${id} cannot be continued: ${why}.`)
  const result = journal.result(id)
  if (crew.find(id) || !result) throw refuse('it is still running (use agent_send)')
  if (result.error === STOPPED_BY_PARENT.reason) throw refuse('you stopped it (start a new one)')
  if (before.model === 'script') throw refuse('it ran a program (start a new one)')
  if (before.verifies) throw refuse('it is the verifier, which only Cadre starts')
  refuseDenied(services, parent, before.agentType)
  const { worktree } = before.frozen
  if (worktree && !existsSync(worktree.path)) throw refuse(`its worktree ${worktree.path} no longer exists`)
  const grant = renarrow(before.grant, parent.started.grant, wantedBy(input))
  if (grant.tools.length === 0) throw new CadreError('REFUSED', noToolLeft({ name: before.agentType, tools: before.grant.tools.map(({ name }) => name) }, parent.started.grant, wantedBy(input)))
  const background = inBackground(services, parent, before.frozen.background === true || (input.background ?? before.background))
  const schema = input.outputSchema ?? before.frozen.outputSchema
  return {
    subject: crew.newSubject(parent.subject),
    started: {
      ...before,
      title: input.title ?? before.title,
      prompt: input.prompt,
      grant,
      frozen: { ...before.frozen, ...(schema && { outputSchema: schema }) },
      origin: { kind: 'continue', agent: id },
      expectedDuration: input.expectedDuration ?? null,
      background: background.value,
      callId,
    },
    notes: [`it keeps version ${before.typeHash.slice(0, 12)} of ${before.agentType}`, ...input.notes, ...background.notes],
    paced: parent.model !== null,
  }
}

/** PRM-04: by its canonical name, however it was asked for. */
function refuseDenied(services: Services, parent: Agent, type: string): void {
  const permissions = services.permissions()
  const why = refusedType(type, permissions.rules, placeOf(permissions, parent.started.grant))
  if (why !== null) throw new CadreError('REFUSED', why)
}

function typeFor(services: Services, parent: Agent, input: DelegationInput): AgentType {
  const startable = services.types.startable().filter(({ name }) => mayName(parent.started.grant, name))
  const type = services.types.require(input.type)
  if (startable.some(({ name }) => name === type.name)) return type
  throw new CadreError('UNKNOWN_TYPE', `Unknown sub-agent type "${input.type ?? type.name}". Available: ${startable.map(({ name }) => name).join(', ') || 'none'}.`)
}
