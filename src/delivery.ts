import type { Reply } from './core/contract.ts'
import { CadreError } from './core/errors.ts'
import type { Notification } from './core/events.ts'
import { letterMessage } from './core/letter.ts'
import { noticeText } from './core/notice.ts'
import { resultText } from './core/result-text.ts'
import { reminder } from './host/mailbox.ts'
import type { Debt } from './host/mailbox.ts'
import type { Session } from './host/session.ts'
import type { Journal } from './journal/journal.ts'
import { blocked } from './supervisor.ts'
import type { Agent } from './supervisor.ts'

/** What becomes of a parent that has nothing left to do while its background agents run (DEL-04, 05). */
export type IdlePolicy = 'turn' | 'wait' | 'nudge'

export type DeliveryOptions = {
  readonly policy: IdlePolicy
  readonly maxNudges: number
  /** How long results wait for each other, in ms (DEL-03). */
  readonly coalesceMs: number
  /** `turn`: an answer the user may see at once. */
  onAnswer?(text: string): void
}

/** A result on its way to its parent: read from the journal when the parent reads it (DEL-01, JRN-08). `limit`: characters of its output. */
export const noticeOf = (journal: Pick<Journal, 'result'>, agent: string, limit: () => number): Debt => ({
  of: agent,
  open() {
    const result = journal.result(agent)
    if (!result) throw new CadreError('INVARIANT', `The result of ${agent} is not in the journal`)
    const plain: Notification = { of: agent, kind: 'agent', title: result.title, status: result.status, text: resultText(result, limit()) }
    const text = noticeText(plain)
    return { message: letterMessage({ text, from: 'result' }), event: { type: 'notification', data: { ...plain, text } } }
  },
})

/**
 * For `insistent`: whether a reply without calls is the run's last. Not while there are messages to read; not while its background agents run,
 * but for a nudged parent that insists and one without a turn left: `leaves` is told, and they go on without it (DEL-05).
 */
export function attends(agent: Agent, session: Session, options: DeliveryOptions, leaves: () => void): (reply: Reply) => Promise<boolean> {
  const { mailbox } = agent
  let nudges = agent.restored?.told.filter(({ from }) => from === 'nudge').length ?? 0
  const background = () => [...agent.children].filter(({ started }) => started.background)

  /** Blocked on its children: others may have its place (KIN-05). */
  const waitForMail = () => blocked(agent, async () => {
    await mailbox.change(agent.signal)
    const until = performance.now() + options.coalesceMs
    for (let left = options.coalesceMs; left > 0 && background().length > 0 && mailbox.unread.length === 0; left = until - performance.now()) {
      await mailbox.change(agent.signal, left)
    }
  })

  return async ({ text }) => {
    for (let told = false; ;) {
      const running = background()
      if (session.turnsLeft() === 0) {
        if (running.length > 0) leaves()
        return true
      }
      if (!mailbox.isEmpty) return false
      if (running.length === 0) return true
      if (options.policy === 'nudge') {
        if (nudges >= options.maxNudges) {
          leaves()
          return true
        }
        nudges += 1
        mailbox.owe(reminder({ text: nudgeText(running), from: 'nudge' }))
        return false
      }
      if (options.policy === 'turn' && !told) options.onAnswer?.(text)
      told = true
      await waitForMail()
    }
  }
}

/** DEL-05. */
const nudgeText = (running: readonly Agent[]): string => [
  `${running.length} sub-agents are still running:`,
  ...running.map((child) => {
    const { expectedDuration } = child.started
    return `- ${child.started.title} (${child.subject.agent}): ${turnText(child)}, running ${secondsRunning(child)} s${expectedDuration === null ? '' : `, expected ${expectedDuration} s`}`
  }),
  'Wait with agent_wait, look with agent_check, or answer again to stop now.',
].join('\n')

/** `turn 3 of 50`. */
export const turnText = (agent: Agent): string => `turn ${agent.session?.progress().turns ?? 0} of ${agent.started.grant.limits.maxTurns}`

/** How long an agent has been running, in whole seconds; 0 in the queue. */
export const secondsRunning = ({ clock }: Agent): number => (clock.started ? Math.round(clock.elapsedMs() / 1000) : 0)
