import type { CadreEvent } from '../../core/events.ts'
import { askerOf, CADRE_DIALECT, resultsIn } from './fan-out-script.ts'
import { monotonicMs } from './monotonic.ts'
import { anthropic } from './wire.ts'

/**
 * Ms from a sub-agent's start, as journaled, to its first model request, and to its second, which hands in what its thread has read; and from
 * its parent's call to the first.
 */
export type Spawned = { readonly fromStart: number; readonly toSecond: number; readonly fromCall: number }

/**
 * Listens to an orchestrator's events and to what this process sends. The requests of a fan-out's children tell no agent, so sub-agents are
 * paired with requests in order: right for one at a time, and for many in their sum. `close` ends the listening.
 */
export function watchSpawns(): { onEvent(event: CadreEvent): void; take(): readonly Spawned[]; close(): void } {
  const calls: number[] = []
  const starts: number[] = []
  const requests: number[] = []
  const seconds: number[] = []
  const { fetch } = globalThis
  globalThis.fetch = (input, init) => {
    const body = init?.body
    const at = monotonicMs()
    if (typeof body === 'string' && askerOf(body, CADRE_DIALECT)?.kind === 'child') [requests, seconds][resultsIn(body, anthropic)]?.push(at)
    return fetch(input, init)
  }
  return {
    onEvent(event) {
      if (event.type === 'delegation.started' && event.depth > 0) starts.push(monotonicMs())
      if (event.type === 'tool.started' && event.depth === 0 && event.data.call.name === 'agent') calls.push(monotonicMs())
    },
    take() {
      const since = (list: readonly number[], from: readonly number[], i: number) => (list[i] ?? Number.NaN) - (from[i] ?? Number.NaN)
      const spawned = requests.map((_, i) => ({ fromStart: since(requests, starts, i), toSecond: since(seconds, starts, i), fromCall: since(requests, calls, i) }))
      for (const list of [calls, starts, requests, seconds]) list.length = 0
      return spawned
    },
    close() {
      globalThis.fetch = fetch
    },
  }
}
