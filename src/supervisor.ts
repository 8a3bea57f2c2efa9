import { randomInt } from 'node:crypto'
import type { AgentType } from './core/agent-type.ts'
import type { CadreEvent, EventBody, EventSubject, NewEvent } from './core/events.ts'
import type { Effort, Usage } from './core/contract.ts'
import { NO_USAGE } from './core/contract.ts'
import type { Grant } from './core/grant.ts'
import type { Stop } from './core/status.ts'
import { Stopped } from './core/stopped.ts'
import type { Journal } from './journal/journal.ts'
import { createSlots } from './schedule/slots.ts'
import type { Slot, Slots } from './schedule/slots.ts'

/** AGT-04. */
const ID = { alphabet: '0123456789abcdefghijklmnopqrstuvwxyz', characters: 8 }

/** A live agent: gone from here once its end is journaled. */
export type Agent = {
  readonly subject: EventSubject
  readonly title: string
  readonly type: AgentType | null
  readonly grant: Grant
  /** Full id of the model it runs on; null for a program. */
  readonly model: string | null
  readonly effort: Effort | null
  readonly signal: AbortSignal
  readonly children: ReadonlySet<Agent>
  /** Resolves when its end is journaled. */
  readonly gone: Promise<void>
  /** Tokens of calls that failed for good: no reply carries them (BUD-06). */
  lostUsage: Usage
  /** Its place among the running ones, while it has one. */
  slot: Slot | null
  /** What ended it from outside; the first one counts (KIN-09). */
  readonly stopped: Stop | null
}

/** One session's agents: who is alive, who may run, and the way everything they do reaches the journal. */
export type Crew = {
  readonly session: string
  readonly slots: Slots
  /** The run nobody delegated. */
  readonly root: EventSubject
  /** A subject with a new id for a child of `parent`. */
  newSubject(parent: EventSubject): EventSubject
  enlist(agent: Omit<Agent, 'signal' | 'children' | 'gone' | 'slot' | 'lostUsage' | 'stopped'>): Agent
  dismiss(agent: Agent): void
  /** Stops an agent and everything below it, depth first (KIN-15); the first stop of each wins. */
  stop(agent: Agent, stop: Stop): void
  /** Stops everyone, also those that are yet to come. */
  stopAll(stop: Stop): void
  /** Journals events about one agent, resolves when they are durable, then tells the listeners. */
  record(subject: EventSubject, events: readonly EventBody[], key?: string): Promise<readonly CadreEvent[]>
  /** Tells the listeners only: for display, never journaled (MOD-06). */
  show(subject: EventSubject, event: EventBody): void
  list(): readonly Agent[]
}

type LiveAgent = Agent & { readonly controller: AbortController; readonly children: Set<Agent>; readonly leave: () => void; stopped: Stop | null }

/** What a supervisor needs of the journal. */
type Log = Pick<Journal, 'append' | 'clean' | 'hasAgent' | 'findSession'>

/** Starts one session: journals nothing by itself. `maxRunning` bounds the sub-agents that run at once (KIN-07). */
export function createCrew(options: {
  readonly journal: Log
  readonly maxRunning: number
  /** Agents that may delegate alive at once: fewer than there can be threads. */
  readonly maxLenders: number
  onEvent(event: CadreEvent): void
}): Crew {
  const { journal, onEvent } = options
  const agents = new Map<string, LiveAgent>()
  const taken = new Set<string>()
  let stoppedAll: Stop | null = null
  const newId = (prefix: string, isUsed: (id: string) => boolean): string => {
    for (;;) {
      const id = `${prefix}-${Array.from({ length: ID.characters }, () => ID.alphabet[randomInt(ID.alphabet.length)]).join('')}`
      if (!taken.has(id) && !isUsed(id)) {
        taken.add(id)
        return id
      }
    }
  }
  const newAgentId = () => newId('sa', (id) => journal.hasAgent(id))
  const session = newId('ss', (id) => journal.findSession(id) !== undefined)
  const rootId = newAgentId()
  const root: EventSubject = { session, root: rootId, agent: rootId, parent: null, depth: 0 }

  function stop(agent: Agent, why: Stop): void {
    const live = agents.get(agent.subject.agent)
    if (!live) return
    for (const child of live.children) stop(child, { ending: { status: 'killed', cause: 'parent' }, reason: 'The agent that started it ended.' })
    if (live.stopped) return
    live.stopped = why
    live.controller.abort(new Stopped(why))
  }

  return {
    session,
    root,
    slots: createSlots(options.maxRunning, options.maxLenders),
    newSubject: (parent) => ({ session, root: parent.root, agent: newAgentId(), parent: parent.agent, depth: parent.depth + 1 }),
    enlist(agent) {
      const controller = new AbortController()
      const { promise: gone, resolve: leave } = Promise.withResolvers<void>()
      const live: LiveAgent = { ...agent, controller, signal: controller.signal, children: new Set(), gone, leave, slot: null, lostUsage: NO_USAGE, stopped: null }
      agents.set(agent.subject.agent, live)
      if (agent.subject.parent !== null) agents.get(agent.subject.parent)?.children.add(live)
      if (stoppedAll) stop(live, stoppedAll)
      return live
    },
    dismiss(agent) {
      agents.get(agent.subject.agent)?.leave()
      agents.delete(agent.subject.agent)
      taken.delete(agent.subject.agent)
      if (agent.subject.parent !== null) agents.get(agent.subject.parent)?.children.delete(agent)
    },
    stop,
    stopAll(why) {
      stoppedAll ??= why
      for (const agent of agents.values()) stop(agent, why)
    },
    async record(subject, events, key) {
      if (events.length === 0) return []
      const time = Date.now()
      const journaled = await journal.append(events.map((event): NewEvent => ({ ...subject, ...event, time, ...(key !== undefined && { key }) })))
      for (const event of journaled) onEvent(event)
      return journaled
    },
    show: (subject, event) => onEvent(journal.clean({ v: 1, seq: 0, time: Date.now(), ...subject, ...event })),
    list: () => [...agents.values()],
  }
}
