import type { Diagnostic } from './core/diagnostic.ts'
import type { CadreEvent, EventBody, EventSubject } from './core/events.ts'
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
  /** Keeps a diagnostic for sessions to come, and tells the open ones. */
  notice(diagnostic: Diagnostic): void
  /** Stops all agents and waits until everything is journaled. */
  close(): Promise<void>
}

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

  const stopAll = (crew: Crew) => {
    for (const agent of crew.list()) crew.stop(agent, { ending: { status: 'killed', cause: 'user' }, reason: 'The user stopped it.' })
  }

  /** For what nobody waits for: a journal that cannot be written is reported by the run's own next append. */
  const record = (crew: Crew, subject: EventSubject, event: EventBody) => {
    crew.record(subject, [event]).catch(() => undefined)
  }

  const tell = (event: EventBody) => {
    for (const crew of crews) record(crew, crew.root, event)
  }

  async function inSession<T>(session: Parameters<Sessions['open']>[0], work: (crew: Crew) => Promise<Done<T>>): Promise<T & { readonly session: string }> {
    const { kind, title, maxRunning, signal } = session
    const { cwd, root } = options
    signal?.throwIfAborted()
    const crew = createCrew({ journal: options.journal(), maxRunning, maxLenders: options.maxLenders(), onEvent: options.onEvent })
    const onAbort = () => stopAll(crew)
    crews.add(crew)
    signal?.addEventListener('abort', onAbort, { once: true })
    let status = 'failed'
    try {
      await crew.record(crew.root, [
        { type: 'session.started', data: { kind, title, cwd, root, version: VERSION } },
        ...noticed.map((data): EventBody => ({ type: 'diagnostic', data })),
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
      for (const crew of crews) {
        const live = crew.list().find(({ subject }) => subject.agent === agent)
        if (live) record(crew, live.subject, event)
      }
    },
    notice(diagnostic) {
      noticed.push(diagnostic)
      tell({ type: 'diagnostic', data: diagnostic })
    },
    async close() {
      for (const crew of crews) stopAll(crew)
      await Promise.allSettled(open)
    },
  }
}
