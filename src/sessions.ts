import type { Usage } from './core/contract.ts'
import type { Diagnostic } from './core/diagnostic.ts'
import { messageOf } from './core/errors.ts'
import type { CadreEvent, EventBody, EventSubject } from './core/events.ts'
import { STOPPED_BY_USER } from './core/status.ts'
import { noticeOf } from './delivery.ts'
import type { Journal } from './journal/journal.ts'
import type { SlotLimits } from './schedule/slots.ts'
import { createCrew } from './supervisor.ts'
import type { Agent, Crew } from './supervisor.ts'
import { VERSION } from './version.ts'

/** What a session's work came to. */
type Done<T> = { readonly value: T; readonly status: string }

type SessionOptions = {
  readonly kind: 'run' | 'sweep'
  readonly title: string
  /** Of the user's settings, but for `lenders`. */
  readonly limits: SlotLimits
  /** Stops its agents (`killed`, by `user`). */
  readonly signal?: AbortSignal
  /** The root of a session that goes on: it must not be running anywhere (JRN-07). */
  readonly resumed?: EventSubject
}

/** The sessions of this process. */
export type Sessions = {
  /**
   * Opens a session around `work`, and ends it in the journal however `work` ends, once no agent of it is alive: background agents that go on
   * without the run (DEL-05) keep it open after this has resolved. Rejects with CadreError USAGE for one that is in use.
   */
  open<T>(session: SessionOptions, work: (crew: Crew) => Promise<Done<T>>): Promise<T & { readonly session: string }>
  /** Journals an event in every open session. */
  tell(event: EventBody): void
  /** Journals an event about one agent, whichever session it is in. */
  tellOf(agent: string, event: EventBody): void
  /** Tells the open sessions of a diagnostic, or the next one. */
  notice(diagnostic: Diagnostic): void
  /** Adds tokens that no reply carries to the agent whose call failed. */
  addLostUsage(lost: { readonly agent: string; readonly model: string; readonly usage: Usage }): void
  /** A live agent, in whatever session. */
  find(agent: string): { readonly crew: Crew; readonly live: Agent } | undefined
  list(): readonly Crew[]
  /** Resolves when no session is open. */
  settled(): Promise<void>
  /** Stops all agents and waits until everything is journaled. */
  close(): Promise<void>
}

export function createSessions(options: {
  readonly journal: () => Journal
  readonly cwd: string
  readonly root: string
  readonly maxLenders: () => number
  readonly resultChars: () => number
  onEvent(event: CadreEvent): void
}): Sessions {
  const crews = new Set<Crew>()
  const open = new Set<Promise<unknown>>()
  const noticed: Diagnostic[] = []

  /** For what nobody waits for: a journal that cannot be written is reported by the run's own next append. */
  const record = (crew: Crew, subject: EventSubject, event: EventBody) => {
    crew.record(subject, [event]).catch(() => undefined)
  }

  const tell = (event: EventBody) => {
    for (const crew of crews) record(crew, crew.root, event)
  }

  function find(agent: string) {
    for (const crew of crews) {
      const live = crew.find(agent)
      if (live) return { crew, live }
    }
    return undefined
  }

  /** Waits for every agent that was begun: not for one that was only enlisted when the session failed. */
  async function allEnded(crew: Crew): Promise<void> {
    for (;;) {
      const runs = crew.list().flatMap(({ run }) => run ?? [])
      if (runs.length === 0) return
      await Promise.allSettled(runs)
    }
  }

  function crewFor({ limits, resumed }: SessionOptions): Crew {
    const journal = options.journal()
    if (resumed) journal.claim(resumed.session)
    return createCrew({
      journal,
      limits: { ...limits, lenders: options.maxLenders() },
      ...(resumed && { resumed }),
      notice: (agent) => noticeOf(journal, agent, options.resultChars),
      onEvent: options.onEvent,
    })
  }

  /** Runs `work`, tells what came of it at once, and resolves when the session has ended. */
  async function inSession<T>(session: SessionOptions, work: (crew: Crew) => Promise<Done<T>>, tellOutcome: (outcome: Promise<T & { readonly session: string }>) => void): Promise<void> {
    const { kind, title, signal } = session
    const { cwd, root } = options
    signal?.throwIfAborted()
    const crew = crewFor(session)
    const onAbort = () => crew.stopAll(STOPPED_BY_USER)
    crews.add(crew)
    signal?.addEventListener('abort', onAbort, { once: true })
    let status = 'failed'
    let outcome: T & { readonly session: string }
    try {
      await crew.record(crew.root, [
        { type: 'session.started', data: { kind, title, cwd, root, version: VERSION } },
        // Once per version (TYP-19): the next session does not hear them again.
        ...noticed.splice(0).map((data): EventBody => ({ type: 'diagnostic', data })),
      ])
      const done = await work(crew)
      status = done.status
      if (crew.list().length > 0) tellOutcome(Promise.resolve({ ...done.value, session: crew.session }))
      await crew.empty()
      outcome = { ...done.value, session: crew.session }
    } catch (error) {
      crew.stopAll({ ...STOPPED_BY_USER, reason: `The session failed: ${messageOf(error)}` })
      await allEnded(crew)
      throw error
    } finally {
      signal?.removeEventListener('abort', onAbort)
      crews.delete(crew)
      await crew.record(crew.root, [{ type: 'session.ended', data: { status } }])
    }
    tellOutcome(Promise.resolve(outcome))
  }

  return {
    async open<T>(session: SessionOptions, work: (crew: Crew) => Promise<Done<T>>) {
      const { promise, resolve, reject } = Promise.withResolvers<T & { readonly session: string }>()
      const whole = inSession(session, work, resolve)
      open.add(whole)
      whole.catch(reject).finally(() => open.delete(whole))
      return promise
    },
    tell,
    tellOf(agent, event) {
      const found = find(agent)
      if (found) record(found.crew, found.live.subject, event)
    },
    addLostUsage({ agent, model, usage }) {
      const found = find(agent)
      if (!found) return
      const lost = { model, usage }
      found.live.lost.push(lost)
      record(found.crew, found.live.subject, { type: 'usage.lost', data: lost })
    },
    notice(diagnostic) {
      if (crews.size === 0) noticed.push(diagnostic)
      tell({ type: 'diagnostic', data: diagnostic })
    },
    find,
    list: () => [...crews],
    async settled() {
      while (open.size > 0) await Promise.allSettled(open)
    },
    async close() {
      for (const crew of crews) crew.stopAll(STOPPED_BY_USER)
      await Promise.allSettled(open)
    },
  }
}
