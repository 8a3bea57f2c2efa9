import { randomInt } from 'node:crypto'
import type { Brief, Usage } from './core/contract.ts'
import type { CadreEvent, DelegationStarted, EventBody, EventSubject, NewEvent, Sender } from './core/events.ts'
import type { Restored } from './core/restored.ts'
import type { RunOutcome } from './core/result.ts'
import { PARENT_ENDED } from './core/status.ts'
import type { Stop } from './core/status.ts'
import { Stopped } from './core/stopped.ts'
import type { TodoItem } from './core/todo-item.ts'
import { createMailbox } from './host/mailbox.ts'
import type { Debt, Mailbox } from './host/mailbox.ts'
import type { Session } from './host/session.ts'
import type { Journal } from './journal/journal.ts'
import type { Hold } from './schedule/gate.ts'
import { createRunClock } from './schedule/run-clock.ts'
import type { RunClock } from './schedule/run-clock.ts'
import { createSlots } from './schedule/slots.ts'
import type { Slot, SlotLimits, Slots } from './schedule/slots.ts'

/** AGT-04. */
const ID = { alphabet: '0123456789abcdefghijklmnopqrstuvwxyz', characters: 8 }

/** What an agent is from its first moment. */
type Enlisted = {
  readonly subject: EventSubject
  /** As journaled: its rights, version, prompt and place. */
  readonly started: DelegationStarted
  /** Full id of the model it runs on; null for a program. */
  readonly model: string | null
  /** Where its run stood, if an earlier process began it. */
  readonly restored: Restored | null
}

/** A live agent: gone from here once its end is journaled. */
export type Agent = Enlisted & {
  readonly signal: AbortSignal
  readonly children: ReadonlySet<Agent>
  readonly mailbox: Mailbox
  /** Resolves when its end is journaled. */
  readonly gone: Promise<void>
  /** What ended it from outside; the first one counts (KIN-09). */
  readonly stopped: Stop | null
  /** ms since 1970 of its newest event. */
  readonly lastActive: number
  /** How its run ends; null until it was begun. */
  run: Promise<RunOutcome> | null
  /** Its conversation, once it runs. */
  session: Session | null
  /** Starts when it begins to run. */
  readonly clock: RunClock
  /** How it ended is decided and its result is being made: no stop counts any more, and it reads no more messages. */
  ending: boolean
  /** Its last answer is given, and nothing that comes now would be read. */
  answered: boolean
  /** KIN-14. */
  repeating: boolean
  /** Files it wrote in this process, as its outcomes name them. */
  readonly written: Set<string>
  /** Its own list, as it last wrote it (TOO-11). */
  todo: readonly TodoItem[]
  /** What was paid for in this process and no reply carries (BUD-06). */
  readonly lost: { readonly model: string; readonly usage: Usage }[]
  /** Its place among the running ones, while it has one. */
  slot: Slot | null
  /** Its right to write in its root, while it has it (KIN-04). */
  hold: Hold | null
}

/** One session's agents: who is alive, who may run, and the way everything they do reaches the journal. */
export type Crew = {
  readonly session: string
  readonly slots: Slots
  /** The run nobody delegated. */
  readonly root: EventSubject
  /** A subject with a new id for a child of `parent`. */
  newSubject(parent: EventSubject): EventSubject
  enlist(agent: Enlisted): Agent
  find(id: string): Agent | undefined
  /** Those above an agent, the one that started it first. */
  above(agent: Agent): readonly Agent[]
  /** To be called when an agent's end is journaled: it is gone from here, and its parent is told if it ran in the background. */
  dismiss(agent: Agent): void
  /** Stops an agent and everything below it, depth first (KIN-15); the first stop of each wins. */
  stop(agent: Agent, stop: Stop): void
  /** Stops everyone, also those that are yet to come. */
  stopAll(stop: Stop): void
  /** Puts a message into an agent's mailbox, journaled ahead of the turn that reads it (STR-02). */
  send(agent: Agent, letter: { readonly text: string; readonly from: Sender }): Promise<void>
  /** Journals events about one agent, resolves when they are durable, then tells the listeners. */
  record(subject: EventSubject, events: readonly EventBody[], key?: string): Promise<readonly CadreEvent[]>
  /** Tells the listeners only: for display, never journaled (MOD-06). */
  show(subject: EventSubject, event: EventBody): void
  list(): readonly Agent[]
  /** How many wait for their gate or their place. */
  readonly queued: number
  /** Resolves when nobody is alive. */
  empty(): Promise<void>
}

type LiveAgent = Agent & { readonly controller: AbortController; readonly children: Set<Agent>; readonly leave: () => void; stopped: Stop | null; lastActive: number }

/** What a supervisor needs of the journal. */
type Log = Pick<Journal, 'append' | 'clean' | 'hasAgent' | 'findSession'>

/** One session's crew, a new one or that of a session that goes on. Journals nothing by itself. */
export function createCrew(options: {
  readonly journal: Log
  readonly limits: SlotLimits
  readonly resumed?: EventSubject
  /** The result of an agent that ended, for its parent (DEL-01). */
  notice(agent: string): Debt
  onEvent(event: CadreEvent): void
}): Crew {
  const { journal, onEvent } = options
  const agents = new Map<string, LiveAgent>()
  let stoppedAll: Stop | null = null
  /** The fault of a journal that could not be written once. Nothing is written after it: what the session has stays, and it can be resumed. */
  let broken: { readonly fault: unknown } | null = null
  const emptied: (() => void)[] = []
  const newId = (prefix: string, isUsed: (id: string) => boolean): string => {
    for (;;) {
      const id = `${prefix}-${Array.from({ length: ID.characters }, () => ID.alphabet[randomInt(ID.alphabet.length)]).join('')}`
      if (!isUsed(id)) return id
    }
  }
  const newAgentId = () => newId('sa', (id) => agents.has(id) || journal.hasAgent(id))
  const newRoot = (): EventSubject => {
    const agent = newAgentId()
    return { session: newId('ss', (id) => journal.findSession(id) !== undefined), root: agent, agent, parent: null, depth: 0 }
  }
  const root = options.resumed ?? newRoot()
  const { session } = root

  function stop(agent: Agent, why: Stop): void {
    const live = agents.get(agent.subject.agent)
    if (!live) return
    for (const child of live.children) stop(child, PARENT_ENDED)
    if (live.stopped || live.ending) return
    live.stopped = why
    live.controller.abort(new Stopped(why))
  }

  function above({ subject }: Agent): readonly Agent[] {
    const parent = subject.parent === null ? undefined : agents.get(subject.parent)
    return parent ? [parent, ...above(parent)] : []
  }

  async function record(subject: EventSubject, events: readonly EventBody[], key?: string): Promise<readonly CadreEvent[]> {
    if (events.length === 0) return []
    const time = Date.now()
    const live = agents.get(subject.agent)
    if (live) live.lastActive = time
    if (broken) throw broken.fault
    const journaled = await journal.append(events.map((event): NewEvent => ({ ...subject, ...event, time, ...(key !== undefined && { key }) }))).catch((fault: unknown) => {
      broken ??= { fault }
      throw fault
    })
    for (const event of journaled) onEvent(event)
    return journaled
  }

  return {
    session,
    root,
    slots: createSlots(options.limits),
    newSubject: (parent) => ({ session, root: parent.root, agent: newAgentId(), parent: parent.agent, depth: parent.depth + 1 }),
    enlist(agent) {
      const controller = new AbortController()
      const { promise: gone, resolve: leave } = Promise.withResolvers<void>()
      const live: LiveAgent = {
        ...agent,
        controller,
        signal: controller.signal,
        children: new Set(),
        mailbox: mailboxOf(agent),
        gone,
        leave,
        run: null,
        session: null,
        clock: createRunClock(agent.restored?.elapsedMs),
        ending: false,
        answered: false,
        repeating: false,
        written: new Set(),
        todo: [],
        slot: null,
        hold: null,
        lost: [],
        stopped: null,
        lastActive: Date.now(),
      }
      agents.set(agent.subject.agent, live)
      if (agent.subject.parent !== null) agents.get(agent.subject.parent)?.children.add(live)
      if (stoppedAll) stop(live, stoppedAll)
      return live
    },
    find: (id) => agents.get(id),
    above,
    dismiss({ subject: { agent, parent }, started }) {
      const live = agents.get(agent)
      if (!live) return
      agents.delete(agent)
      const above = parent === null ? undefined : agents.get(parent)
      above?.children.delete(live)
      // What it was told to expect of an agent that is gone is no longer true (DEL-10).
      above?.mailbox.withdraw(agent)
      if (started.background) above?.mailbox.owe(options.notice(agent))
      live.leave()
      if (agents.size === 0) for (const tell of emptied.splice(0)) tell()
    },
    stop,
    stopAll(why) {
      stoppedAll ??= why
      // Children first: it is not their parent's end that ends them.
      for (const agent of [...agents.values()].toReversed()) stop(agent, why)
    },
    async send(agent, letter) {
      // In the mailbox before it is durable: the turn that reads it is journaled after it.
      agent.mailbox.deliver(letter)
      await record(agent.subject, [{ type: 'message.sent', data: letter }])
    },
    record,
    show: (subject, event) => onEvent(journal.clean({ v: 1, seq: 0, time: Date.now(), ...subject, ...event })),
    list: () => [...agents.values()],
    get queued() {
      return agents.values().filter(({ clock, run, stopped, ending }) => run !== null && !clock.started && !stopped && !ending).toArray().length
    },
    empty: () => agents.size === 0 ? Promise.resolve() : new Promise((resolve) => emptied.push(resolve)),
  }
}

/** With what came before an interruption first: what comes now is journaled after it. */
function mailboxOf({ restored }: Enlisted): Mailbox {
  const mailbox = createMailbox()
  for (const letter of restored?.unread ?? []) mailbox.deliver(letter)
  for (const text of restored?.notices ?? []) mailbox.deliver({ text, from: 'result' })
  return mailbox
}

/** Whether what it is sent may still be read (STR-02). */
export const hears = ({ stopped, ending, answered }: Agent): boolean => stopped === null && !ending && !answered

/** It waits for its sub-agents: they may write in its stead, and its place is another's meanwhile, perhaps their own (KIN-05). */
export async function blocked<T>({ slot, hold, clock }: Agent, work: () => Promise<T>): Promise<T> {
  hold?.lend()
  slot?.lend()
  try {
    return await work()
  } finally {
    // That it waits for what is another's now is none of its own time (KIN-12). The gate comes first, as at the start.
    if (slot) {
      await clock.without(async () => {
        await hold?.reclaim()
        await slot.reclaim()
      })
    }
  }
}

/** It waits for somebody's word: its place is another's meanwhile, its right to write stays its own (PRM-08). The time is none of its own (KIN-12). */
export async function waiting<T>({ slot, clock }: Agent, work: () => Promise<T>): Promise<T> {
  slot?.lend()
  return clock.without(async () => {
    try {
      return await work()
    } finally {
      await slot?.reclaim()
    }
  })
}

/** What the side that runs its loop, or a call of it, is told of an agent. */
export const briefOf = ({ subject, started: { grant } }: Agent, form: Brief['form']): Brief =>
  ({ agent: subject.agent, type: grant.type, root: grant.root, paths: grant.paths, form })
