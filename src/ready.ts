import { randomInt } from 'node:crypto'
import type { ChosenModel } from './choose-model.ts'
import type { AgentType, Program } from './core/agent-type.ts'
import type { Effort, Message } from './core/contract.ts'
import type { DelegationStarted, EventSubject, FrozenType, Origin } from './core/events.ts'
import type { Narrowed } from './core/narrow.ts'
import type { Restored } from './core/restored.ts'
import { offer } from './offer.ts'
import type { Offer } from './offer.ts'
import { systemPrompt } from './prompt.ts'
import { firstMessage } from './prompts/environment.ts'
import type { Services } from './services.ts'
import type { Agent } from './supervisor.ts'
import type { DelegationInput } from './tools/agent.ts'
import type { MemoryFolder } from './tools/define-tool.ts'
import { memoryText } from './tools/remembering/memory-text.ts'
import type { Worktree } from '../worktrees/worktree.ts'
import type { NoWorktree } from '../worktrees/worktrees.ts'

/** An agent to start, whoever asked for it: a parent model's call, a sweep's item, or the user. */
export type Start = {
  readonly subject: EventSubject
  readonly type: AgentType | null
  readonly narrowed: Pick<Narrowed, 'grant' | 'removed' | 'unknown' | 'notes'>
  readonly title: string
  readonly prompt: string
  /** What a language model reads before it (PRO-01). */
  readonly environment?: string
  /** Null: the type is a program. */
  readonly model: ChosenModel | null
  readonly input?: Pick<DelegationInput, 'effort' | 'outputSchema' | 'notes' | 'expectedDuration'>
  readonly callId: string | null
  /** The parent turn's, for a child that says nothing about it (MOD-02). */
  readonly inheritedEffort?: Effort | null
  readonly background?: boolean
  /** KIN-02: it begins with this agent's conversation, prompt prefix and tools. */
  readonly forks?: Agent | null
  /** PRO-06. */
  readonly history?: readonly Message[]
  /** Whether a model asked for it (KIN-08). */
  readonly paced?: boolean
  readonly key?: string
  /** The worktree it works in, and what is to be said of it. */
  readonly worktree?: Worktree | NoWorktree
  /** VER-06. */
  readonly verifies?: DelegationStarted['verifies']
}

/** A run with all that is journaled of it decided: a new one, or one that goes on. */
export type Ready = {
  readonly subject: EventSubject
  readonly started: DelegationStarted
  readonly restored?: Restored
  readonly notes: readonly string[]
  readonly paced?: boolean
  /** Where `started` does not hold it: in a sweep. */
  readonly program?: Program
  readonly key?: string
  /** Whether it is to have a worktree of its own that is not open yet. */
  readonly isolates?: boolean
}

/** Decides everything about a new run. Nothing is journaled yet. Throws USAGE for a schema that is none. */
export function readyAgent(services: Services, start: Start): Ready {
  const { type, narrowed, model, input, forks } = start
  const worktree = start.worktree && 'path' in start.worktree ? start.worktree : null
  const grant = worktree ? { ...narrowed.grant, root: worktree.path } : narrowed.grant
  const schema = input?.outputSchema ?? type?.outputSchema
  const effort = (forks ? null : (input?.effort ?? type?.effort)) ?? start.inheritedEffort ?? null
  const memory = type && grant.tools.some(({ name }) => name === 'memory') ? services.memoryFolder(type) : null
  const frozen: FrozenType = {
    ...(effort !== null && { effort }),
    cacheTtl: (forks ? forks.started.frozen : type)?.cacheTtl ?? services.limits().cacheTtl,
    ...(schema && { outputSchema: schema }),
    ...(type?.program && start.key === undefined && { program: type.program }),
    ...(type?.autoCompactWindow !== undefined && { autoCompactWindow: type.autoCompactWindow }),
    ...(memory && { memory }),
    ...(worktree && { worktree: { path: worktree.path, branch: worktree.branch, base: worktree.base } }),
    ...(type?.background === true && { background: true as const }),
    ...(forks && { shown: offerTo(services, forks.started).schemas.map(({ name }) => name) }),
  }
  const started: DelegationStarted = {
    title: start.title,
    agentType: grant.type,
    typeHash: type?.hash ?? '',
    typePath: type?.path ?? null,
    model: model?.id ?? 'script',
    system: forks ? forks.started.system : model ? systemOf(services, start, memory) : '',
    prompt: model && start.environment !== undefined ? firstMessage({ environment: start.environment, prompt: start.prompt }) : start.prompt,
    grant,
    removed: narrowed.removed,
    cwd: grant.root,
    frozen,
    origin: originOf(start),
    expectedDuration: input?.expectedDuration ?? type?.expectedDuration ?? null,
    background: start.background ?? false,
    seed: randomInt(2 ** 32),
    callId: start.callId,
    ...(start.verifies && { verifies: start.verifies }),
  }
  return {
    subject: start.subject,
    started,
    notes: [...(input?.notes ?? []), ...(model?.notes ?? []), ...narrowed.notes, ...unknownNotes(narrowed), ...(start.worktree && 'none' in start.worktree ? [start.worktree.note] : [])],
    paced: start.paced ?? false,
    ...(type?.program && { program: type.program }),
    ...(start.key !== undefined && { key: start.key }),
  }
}

function originOf({ forks, history }: Start): Origin | null {
  if (forks) return { kind: 'fork', agent: forks.subject.agent, turn: turnOf(forks) }
  return history && history.length > 0 ? { kind: 'messages', messages: history } : null
}

/** The turn an agent is in, over all its runs. */
export const turnOf = ({ session, restored }: Agent): number => (session?.progress().turns ?? 0) + (restored?.turnsBefore ?? 0)

export const offerTo = ({ toolbox, types, delegationTools }: Services, started: DelegationStarted): Offer =>
  offer(started, { toolbox, tools: delegationTools(), startable: types.startable() })

const systemOf = ({ types, project }: Services, { type, subject, narrowed: { grant } }: Start, memory: MemoryFolder | null): string =>
  systemPrompt({
    type, isRoot: subject.depth === 0, grant, startable: types.startable(), segment: (of) => types.segment(of), project,
    ...(memory && { memory: memoryText(memory) }),
  })

const unknownNotes = ({ unknown }: Pick<Narrowed, 'unknown'>): readonly string[] =>
  unknown.map(({ written, nearest }) => `unknown tool ${written} was left out${nearest ? `, did you mean ${nearest}?` : ''}`)
