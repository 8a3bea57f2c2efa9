import type { CadreEvent } from '../../core/events.ts'
import { askerOf, CADRE_DIALECT, resultsIn } from './fan-out-script.ts'
import { monotonicMs } from './monotonic.ts'
import { anthropic } from './wire.ts'

/** Ms until a sub-agent's first model request: from its own start, and from when its parent's call was taken. Both as journaled. */
export type Spawned = { readonly fromStart: number; readonly fromCall: number }

/**
 * Listens to an orchestrator's events and to what this process sends. The requests of a fan-out's children tell no agent, so sub-agents are
 * paired with requests in order: right for one at a time, and for many in their sum. `close` ends the listening.
 */
export function watchSpawns(): { onEvent(event: CadreEvent): void; take(): readonly Spawned[]; close(): void } {
  const calls: number[] = []
  const starts: number[] = []
  const requests: number[] = []
  const { fetch } = globalThis
  globalThis.fetch = (input, init) => {
    const body = init?.body
    const at = monotonicMs()
    if (typeof body === 'string' && askerOf(body, CADRE_DIALECT)?.kind === 'child' && resultsIn(body, anthropic) === 0) requests.push(at)
    return fetch(input, init)
  }
  return {
    onEvent(event) {
      if (event.type === 'delegation.started' && event.depth > 0) starts.push(monotonicMs())
      if (event.type === 'tool.started' && event.depth === 0 && event.data.call.name === 'agent') calls.push(monotonicMs())
    },
    take() {
      const spawned = requests.map((at, i) => ({ fromStart: at - (starts[i] ?? Number.NaN), fromCall: at - (calls[i] ?? Number.NaN) }))
      for (const list of [calls, starts, requests]) list.length = 0
      return spawned
    },
    close() {
      globalThis.fetch = fetch
    },
  }
}
