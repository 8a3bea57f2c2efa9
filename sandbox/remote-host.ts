import type { Host, Reply } from '../src/core/contract.ts'
import type { ThreadHost } from '../src/core/thread.ts'

/** What `next` rejects with when the agent is to leave this thread: it is no fault. */
export class ThreadLent extends Error {}

/** The loop's `Host` over the wire, for one stay that begins with `first`. An outcome that came from the main side is not sent back to it. */
export function remoteHost(far: ThreadHost, first: Reply): Host {
  const theirs = new Set<string>()
  let given: Reply | null = first
  return {
    async next(outcomes) {
      const own = outcomes.filter(({ callId }) => !theirs.has(callId))
      theirs.clear()
      const reply = given ?? await far.next(own)
      given = null
      if (reply === null) throw new ThreadLent()
      return reply
    },
    async call(calls) {
      const outcomes = await far.call(calls.map(({ id }) => id))
      for (const { callId } of outcomes) theirs.add(callId)
      return outcomes
    },
  }
}
