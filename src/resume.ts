import { statSync } from 'node:fs'
import { CadreError, messageOf } from './core/errors.ts'
import type { DelegationStarted, EventSubject } from './core/events.ts'
import type { Restored } from './core/restored.ts'
import type { AgentResult } from './core/result.ts'
import { PARENT_ENDED } from './core/status.ts'
import type { Stop } from './core/status.ts'
import { planAgent, startAgent } from './delegate.ts'
import { noticeOf } from './delivery.ts'
import { resultOf, standing } from './ending.ts'
import { reminder } from './host/mailbox.ts'
import type { Journal } from './journal/journal.ts'
import { beginAgent } from './run.ts'
import type { Plan } from './run.ts'
import type { Place, Services } from './services.ts'
import type { Agent } from './supervisor.ts'
import { verified } from './verification.ts'

/** What a session is resumed from. */
export type ResumeJournal = Pick<Journal, 'interrupted' | 'restore' | 'result' | 'started' | 'subject' | 'undelivered'>

/** An agent that has no end, and where it stood. `since`: when it began, in ms since 1970; null: it was queued. */
type Interrupted = { readonly since: number | null; readonly subject: EventSubject; readonly started: DelegationStarted; readonly restored: Restored }

/** Throws NOT_FOUND for no session, USAGE for one that is gone on with another way, or has nothing to go on with. */
export function sessionToResume(journal: Pick<Journal, 'events' | 'findSession' | 'interrupted' | 'started'>, written: string, prompt: string | null): { readonly subject: EventSubject; readonly title: string } {
  const id = journal.findSession(written)
  const [first] = id === undefined ? [] : journal.events({ session: id, types: ['session.started'], limit: 1 })
  if (first?.type !== 'session.started') throw new CadreError('NOT_FOUND', `There is no session "${written}" here. cadre sessions list shows them.`)
  const { kind, title } = first.data
  if (kind === 'sweep') throw new CadreError('USAGE', `${first.session} is a sweep. Run the same sweep again: finished items are skipped.`)
  const { session, root, agent, parent, depth } = first
  if (!journal.started(root)) throw new CadreError('USAGE', `Session ${session} was interrupted before its run began: there is nothing to go on with. Start a new run.`)
  if (prompt === null && journal.interrupted(session).length === 0) throw new CadreError('USAGE', `Session ${session} has ended. Give a prompt with -p to go on with it.`)
  return { subject: { session, root, agent, parent, depth }, title }
}

/**
 * Goes on with a session whose process ended (JRN-03…06): its agents that had no end are queued again with all they had, what cannot go on is
 * `lost`, and its root run goes on with `prompt`, or where it stood. Resolves with the root's result: that of before, if it had ended and nobody
 * asks for more.
 */
export async function resumeSession(services: Services, journal: ResumeJournal, place: Place, prompt: string | null): Promise<AgentResult> {
  const { crew } = services
  const root = crew.root.agent
  const open = journal.interrupted(crew.session).map(({ id, started }) => ({ ...standingOf(journal, id), since: started }))
  const rootIsOpen = open.some(({ subject }) => subject.agent === root)
  const below = open.filter(({ subject }) => subject.agent !== root)
  const plan = rootIsOpen || prompt !== null ? planRoot(services, journal) : null
  const { lost, going } = await sort(services, below)
  for (const ready of going) {
    const started = isWaitedFor(ready, open) ? ready.started : { ...ready.started, background: true }
    const { agent, ended } = startAgent(services, { ...ready, started, notes: [], paced: started.callId !== null })
    oweWhatCame(services, journal, agent)
    ended.catch(() => undefined) // a journal that cannot be written fails the root's run, too
  }
  if (!plan) {
    const result = journal.result(root)
    if (!result) throw new CadreError('INVARIANT', `The root run of ${crew.session} has neither an end nor a place to go on from`)
    return result
  }
  oweWhatCame(services, journal, plan.agent)
  const told = interruptionText(root, rootIsOpen, below, lost)
  // A run that had given its last answer has it: it is not asked again to be told this.
  if (told !== null) plan.agent.mailbox.owe({ ...reminder({ text: told, from: 'resumed' }), rides: true })
  return (await beginAgent(verified(services, { ...plan, ...(prompt !== null && { opening: prompt }) }), place, { queue: false }).ended).result
}

function standingOf(journal: ResumeJournal, id: string): Omit<Interrupted, 'since'> {
  const subject = journal.subject(id)
  const started = journal.started(id)
  const restored = journal.restore(id)
  if (!subject || !started || !restored) throw new CadreError('INVARIANT', `What is journaled of ${id} is not enough to go on with it`)
  return { subject, started, restored }
}

const planRoot = (services: Services, journal: ResumeJournal): Plan => planAgent(services, { ...standingOf(journal, services.crew.root.agent), notes: [] })

/**
 * Whether the call that started it waits for it again. A program that started it does not: it is in doubt, and is not run again (JRN-04). So its
 * agents go on in the background, and what they come to is told.
 */
function isWaitedFor({ subject, started }: Interrupted, open: readonly Interrupted[]): boolean {
  if (started.background || started.callId === null) return true
  const parent = open.find((other) => other.subject.agent === subject.parent)
  return parent?.restored.reply?.calls.some(({ id }) => id === started.callId) ?? true
}

/** Results that came while nobody was there ride with the first turn (DEL-06). */
function oweWhatCame(services: Services, journal: ResumeJournal, agent: Agent): void {
  for (const id of journal.undelivered(agent.subject.agent)) {
    agent.mailbox.owe(noticeOf(services.journal, id, () => services.limits().resultChars))
  }
}

/** Who can go on, parents first; the others end here and now, each with its reason. */
async function sort(services: Services, below: readonly Interrupted[]): Promise<{ readonly lost: ReadonlySet<string>; readonly going: readonly Interrupted[] }> {
  const lost = new Set<string>()
  const going: Interrupted[] = []
  const { root } = services.crew
  for (const one of below) {
    const { parent } = one.subject
    const orphan = parent !== root.agent && !going.some(({ subject }) => subject.agent === parent)
    const fault = orphan ? null : await whyLost(services, one.started)
    if (!orphan && fault === null) {
      going.push(one)
      continue
    }
    lost.add(one.subject.agent)
    const stop: Stop = orphan ? PARENT_ENDED : { ending: { status: 'lost', cause: null }, reason: `It was ${one.since === null ? 'queued' : `started at ${new Date(one.since).toISOString()}`} and cannot go on: ${fault ?? ''}` }
    await services.crew.record(one.subject, [{ type: 'delegation.ended', data: { result: endOf(services, one, stop) } }])
  }
  return { lost, going }
}

/** JRN-06. */
async function whyLost(services: Services, { cwd, model, frozen }: DelegationStarted): Promise<string | null> {
  if (!statSync(cwd, { throwIfNoEntry: false })?.isDirectory()) return `there is no folder ${cwd} any more.`
  if (frozen.worktree) {
    const found = await services.isolation.reopen(frozen.worktree.path)
    if ('none' in found) return `${found.note}.`
  }
  if (model === 'script') return frozen.program ? null : 'its program is not in the journal.'
  try {
    services.openModel(model)
    return null
  } catch (error) {
    return messageOf(error)
  }
}

function endOf({ cost }: Services, { subject, started, restored }: Interrupted, stop: Stop): AgentResult {
  const { model } = started
  const progress = standing({ started, restored, cost: (by, usage) => (model === 'script' ? 0 : cost(by, model, usage)) })
  return resultOf({ subject, started, progress, durationMs: restored.elapsedMs, unread: restored.unread }, stop, { notes: progress.notes })
}

/** JRN-06: what the first turn after a resume is told; null: nothing of it was interrupted. */
function interruptionText(root: string, rootIsOpen: boolean, below: readonly Interrupted[], lost: ReadonlySet<string>): string | null {
  const own = below.filter(({ subject }) => subject.parent === root)
  if (!rootIsOpen && own.length === 0) return null
  const lines = own.map(({ subject, started }) => `- ${started.title} (${subject.agent}): ${lost.has(subject.agent) ? 'lost' : 'goes on'}`)
  return ['This session was interrupted and goes on.', ...(lines.length > 0 ? ['Sub-agents that were interrupted:', ...lines] : [])].join('\n')
}
