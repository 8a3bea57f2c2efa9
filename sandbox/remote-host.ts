import type { Host } from '../src/core/contract.ts'
import type { ThreadHost } from '../src/core/thread.ts'

/** The loop's `Host` over the wire: an outcome that came from the main side is not sent back to it. */
export function remoteHost(far: ThreadHost): Host {
  const theirs = new Set<string>()
  return {
    async next(outcomes) {
      const own = outcomes.filter(({ callId }) => !theirs.has(callId))
      theirs.clear()
      return far.next(own)
    },
    async call(calls) {
      const outcomes = await far.call(calls.map(({ id }) => id))
      for (const { callId } of outcomes) theirs.add(callId)
      return outcomes
    },
  }
}
