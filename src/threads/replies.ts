import type { Host, Reply, ToolOutcome } from '../core/contract.ts'
import type { Ending } from './ending.ts'
import type { Hand } from './hand.ts'

/** The replies of one agent, each asked for on the main side, so that one can be on its way while the agent has no thread. */
export type Replies = {
  /** Asks for the next reply and deals it to the agent's hand. Rejects as the host does. */
  next(outcomes: readonly ToolOutcome[]): Promise<Reply>
  /** The reply asked for last. A rejection of the host stops the job with that very error. */
  last(): Promise<Reply>
}

export function repliesOf(host: Host, hand: Hand, ending: Ending): Replies {
  let asked: Promise<Reply>
  const ask = async (outcomes: readonly ToolOutcome[]): Promise<Reply> => {
    const reply = await host.next(outcomes)
    hand.deal(reply)
    return reply
  }
  return {
    next(outcomes) {
      asked = ask(outcomes)
      asked.catch(() => {}) // told where it is awaited, unless the job was stopped before
      return asked
    },
    async last() {
      try {
        return await ending.race(asked)
      } catch (error) {
        ending.stop(error)
        throw error
      }
    },
  }
}
