import type { Host, Reply, ToolOutcome } from '../core/contract.ts'
import type { Ending } from './ending.ts'
import { wasStopped } from './ending.ts'
import type { Hand } from './hand.ts'

/**
 * The replies of one agent, each asked for on the main side, so that one can be on its way while the agent has no thread: the first is already,
 * because most of an agent's time is its model's.
 */
export type Replies = {
  /** Asks for the next reply and deals it to the agent's hand. Rejects as the host does. */
  next(outcomes: readonly ToolOutcome[]): Promise<Reply>
  /** The reply asked for last. A rejection of the host stops the job with that very error. */
  last(): Promise<Reply>
}

export function repliesOf(host: Host, hand: Hand, ending: Ending): Replies {
  const dealt = async (outcomes: readonly ToolOutcome[]): Promise<Reply> => {
    if (ending.stopped() !== null) throw wasStopped() // no turn is paid for that nobody waits for
    const reply = await host.next(outcomes)
    hand.deal(reply)
    return reply
  }
  const ask = (outcomes: readonly ToolOutcome[]): Promise<Reply> => {
    const reply = dealt(outcomes)
    reply.catch(() => {}) // told where it is awaited, unless the job was stopped before
    return reply
  }
  let asked = ask([])
  return {
    next(outcomes) {
      asked = ask(outcomes)
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
