import type { ModelRequest, Reply, ToolSchema, Usage } from '../core/contract.ts'
import { messageOf } from '../core/errors.ts'
import type { Summary } from '../core/events.ts'
import { Stopped } from '../core/stopped.ts'
import type { History } from '../core/summary.ts'
import { applySummary } from '../core/summary.ts'
import { planCompaction, summaryText } from './compaction.ts'

export type CompactorOptions = {
  readonly system: string
  readonly tools: readonly ToolSchema[]
  /** Tokens the model holds; see `contextWindow`. */
  readonly window: number
  /** Setting `compactAt`. */
  readonly compactAt: number
  /** The type's, in tokens; only lowers the window. */
  readonly autoCompactWindow?: number
  readonly signal: AbortSignal
  /** Asks the agent's own model. */
  ask(request: Pick<ModelRequest, 'system' | 'tools' | 'messages'>): Promise<Reply>
}

/**
 * `history`: what the agent goes on with. `summary`: to be journaled with the start of the turn; null when there is none to be used, and `note`
 * then says why. `spent`: the request that was paid for, if the model answered.
 */
export type Compacted = {
  readonly history: History
  readonly summary: Summary | null
  readonly note: string | null
  readonly spent: { readonly model: string; readonly usage: Usage } | null
}

/**
 * Keeps one agent's history within its model's window (PRO-08). Before each request of a language model, with the messages the next turn will be
 * asked with (mail and reminders included):
 *
 *     const done = await compactor.run({ messages, keepFirst, turn: turn - 1 }, { used })
 *     if (done?.spent) pay(done.spent.model, done.spent.usage)
 *     if (done?.note) notes.push(done.note)
 *     if (done?.summary) { messages = done.history.messages without the mail; keepFirst = done.history.keepFirst }
 *     // then read the mail and journal turn.started with it and the summary, in one step, and only then generate
 *
 * `used` is the usage of the last reply in `messages`, null after a resume that does not know it. Outcomes that are not journaled yet are to be
 * journaled first: a summary takes seconds. Where `generate` rejects with a context overflow, the same once more with `forced: true`, and the turn
 * is started again with the same number and `injected: []`; null then means that nothing could be left out: the error stands.
 */
export type Compactor = {
  /** Null: nothing is due. Rejects only when stopped. The history is never lost: without a usable summary it stays as it is. */
  run(history: History, now: { readonly used: Usage | null; readonly forced?: boolean }): Promise<Compacted | null>
}

export function createCompactor({ ask, signal, ...options }: CompactorOptions): Compactor {
  /** A model that gave no usable summary once is not asked before each turn again. */
  let failed = false

  return {
    async run(history, now) {
      if (failed && now.forced !== true) return null
      const plan = planCompaction({ ...options, ...history, ...now })
      if (!plan) return null
      const goOn = (why: string, spent: Compacted['spent']): Compacted => {
        failed = true
        return { history, summary: null, note: `Its history is long and could not be summed up (${why}); it went on with the whole of it.`, spent }
      }
      let reply: Reply
      try {
        reply = await ask(plan.request)
      } catch (error) {
        signal.throwIfAborted()
        if (error instanceof Stopped) throw error
        return goOn(messageOf(error), null)
      }
      const { model, usage } = reply
      const text = summaryText(plan, reply)
      if (text === null) return goOn(reply.text.trim() === '' ? 'the summary came back empty' : 'the summary was longer than what it stands for', { model, usage })
      failed = false
      const summary: Summary = { text, turns: plan.turns, ...(plan.origin && { origin: true }), model, usage }
      return { history: applySummary(history, summary), summary, note: null, spent: { model, usage } }
    },
  }
}
