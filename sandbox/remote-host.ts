import type { Host, Reply, ToolOutcome } from '../src/core/contract.ts'
import type { ThreadHost } from '../src/core/thread.ts'

/** What `next` rejects with when the agent is to leave this thread, with outcomes that were not handed in: it is no fault. */
export class ThreadLent extends Error {
  readonly outcomes: readonly ToolOutcome[] | null

  constructor(outcomes: readonly ToolOutcome[] | null) {
    super('The agent leaves this thread.')
    this.outcomes = outcomes
  }
}

/**
 * The loop's `Host` for one stay that begins with `first`, over the wire. An outcome that came from the main side is not sent back to it. Without
 * a wire the stay ends with the outcomes of `first`, whose calls are all local.
 */
export function remoteHost(far: ThreadHost | null, first: Reply): Host {
  const theirs = new Set<string>()
  let given: Reply | null = first
  return {
    async next(outcomes) {
      if (given !== null) {
        const reply = given
        given = null
        return reply
      }
      if (far === null) throw new ThreadLent(outcomes)
      const own = outcomes.filter(({ callId }) => !theirs.has(callId))
      theirs.clear()
      const reply = await far.next(own)
      if (reply === null) throw new ThreadLent(null)
      return reply
    },
    async call(calls) {
      if (far === null) return []
      const outcomes = await far.call(calls.map(({ id }) => id))
      for (const { callId } of outcomes) theirs.add(callId)
      return outcomes
    },
  }
}
