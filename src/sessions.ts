import type { Usage } from './core/contract.ts'
import { addUsage } from './core/contract.ts'
import type { Diagnostic } from './core/diagnostic.ts'
import type { CadreEvent, EventBody, EventSubject } from './core/events.ts'
import type { Stop } from './core/status.ts'
import type { Journal } from './journal/journal.ts'
import { createCrew } from './supervisor.ts'
import type { Crew } from './supervisor.ts'
import { VERSION } from './version.ts'

/** What a session's work came to. */
type Done<T> = { readonly value: T; readonly status: string }

/** The sessions of this process. */
export type Sessions = {
  /** Opens a session around `work`, and ends it in the journal however `work` ends. `signal` stops its agents (`killed`, by `user`). */
  open<T>(session: { readonly kind: 'run' | 'sweep'; readonly title: string; readonly maxRunning: number; readonly signal?: AbortSignal }, work: (crew: Crew) => Promise<Done<T>>): Promise<T & { readonly session: string }>
  /** Journals an event in every open session. */
  tell(event: EventBody): void
  /** Journals an event about one agent, whichever session it is in. */
  tellOf(agent: string, event: EventBody): void
  /** Tells the open sessions of a diagnostic, or the next one. */
  notice(diagnostic: Diagnostic): void
  /** Adds tokens that no reply carries to the agent whose call failed. */
  addLostUsage(agent: string, usage: Usage): void
  /** Stops all agents and waits until everything is journaled. */
  close(): Promise<void>
}

const BY_USER: Stop = { ending: { status: 'killed', cause: 'user' }, reason: 'The user stopped it.' }

export function createSessions(options: {
  readonly journal: () => Journal
  readonly cwd: string
  readonly root: string
  readonly maxLenders: () => number
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
      const live = crew.list().find(({ subject }) => subject.agent === agent)
      if (live) return { crew, live }
    }
    return undefined
  }

  async function inSession<T>(session: Parameters<Sessions['open']>[0], work: (crew: Crew) => Promise<Done<T>>): Promise<T & { readonly session: string }> {
    const { kind, title, maxRunning, signal } = session
    const { cwd, root } = options
    signal?.throwIfAborted()
    const crew = createCrew({ journal: options.journal(), maxRunning, maxLenders: options.maxLenders(), onEvent: options.onEvent })
    const onAbort = () => crew.stopAll(BY_USER)
    crews.add(crew)
    signal?.addEventListener('abort', onAbort, { once: true })
    let status = 'failed'
    try {
      await crew.record(crew.root, [
        { type: 'session.started', data: { kind, title, cwd, root, version: VERSION } },
        // Once per version (TYP-19): the next session does not hear them again.
        ...noticed.splice(0).map((data): EventBody => ({ type: 'diagnostic', data })),
      ])
      const done = await work(crew)
      status = done.status
      return { ...done.value, session: crew.session }
    } finally {
      signal?.removeEventListener('abort', onAbort)
      crews.delete(crew)
      await crew.record(crew.root, [{ type: 'session.ended', data: { status } }])
    }
  }

  return {
    async open(session, work) {
      const whole = inSession(session, work)
      open.add(whole)
      try {
        return await whole
      } finally {
        open.delete(whole)
      }
    },
    tell,
    tellOf(agent, event) {
      const found = find(agent)
      if (found) record(found.crew, found.live.subject, event)
    },
    addLostUsage(agent, usage) {
      const found = find(agent)
      if (found) found.live.lostUsage = addUsage(found.live.lostUsage, usage)
    },
    notice(diagnostic) {
      if (crews.size === 0) noticed.push(diagnostic)
      tell({ type: 'diagnostic', data: diagnostic })
    },
    async close() {
      for (const crew of crews) crew.stopAll(BY_USER)
      await Promise.allSettled(open)
    },
  }
}
