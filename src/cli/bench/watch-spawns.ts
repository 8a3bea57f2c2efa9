import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { ClientRequest } from 'node:http'
import { CadreError } from '../../core/errors.ts'
import type { CadreEvent } from '../../core/events.ts'
import { askerOf, CADRE_DIALECT, resultsIn } from './fan-out-script.ts'
import { monotonicMs } from './monotonic.ts'
import { anthropic } from './wire.ts'

/** Where Node tells of each request that its own client begins. */
const CREATED = 'http.client.request.created'

/**
 * Ms from a sub-agent's start, as journaled, to its first model request, for which it needs no thread, and to its second, which hands in what a
 * thread has read for it; and from its parent's call to the first.
 */
export type Spawned = { readonly fromStart: number; readonly toSecond: number; readonly fromCall: number }

/**
 * Listens to an orchestrator's events and to what this process sends to `providerUrl`, which nobody else may ask. The requests of a fan-out's
 * children tell no agent, so sub-agents are paired with requests in order: right for one at a time, and for many in their sum. `take` gives all
 * since the last one, once they have ended; throws CadreError INVARIANT when there are not as many requests as starts. `close` ends the
 * listening.
 */
export function watchSpawns(providerUrl: string): { onEvent(event: CadreEvent): void; take(): readonly Spawned[]; close(): void } {
  const calls: number[] = []
  const starts: number[] = []
  const requests: number[] = []
  const seconds: number[] = []
  const count = (body: unknown): void => {
    if (typeof body === 'string' && askerOf(body, CADRE_DIALECT)?.kind === 'child') [requests, seconds][resultsIn(body, anthropic)]?.push(monotonicMs())
  }
  const onCreated = (message: unknown): void => {
    const { request } = message as { readonly request?: unknown }
    if (!(request instanceof ClientRequest) || !urlOf(request).startsWith(`${providerUrl}/`)) return
    // It is sent whole, with its end. A hook on this one request alone, so that watches come and go in any order.
    const { end } = request
    request.end = (...sent: readonly unknown[]) => {
      count(sent[0])
      return Reflect.apply(end, request, sent) as ClientRequest
    }
  }
  subscribe(CREATED, onCreated)
  return {
    onEvent(event) {
      if (event.type === 'delegation.started' && event.depth > 0) starts.push(monotonicMs())
      if (event.type === 'tool.started' && event.depth === 0 && event.data.call.name === 'agent') calls.push(monotonicMs())
    },
    take() {
      const counts = [calls, starts, requests, seconds].map(({ length }) => length)
      if (new Set(counts).size > 1) throw unpaired(counts)
      const since = (list: readonly number[], from: readonly number[], i: number) => (list[i] ?? Number.NaN) - (from[i] ?? Number.NaN)
      const spawned = requests.map((_, i) => ({ fromStart: since(requests, starts, i), toSecond: since(seconds, starts, i), fromCall: since(requests, calls, i) }))
      for (const list of [calls, starts, requests, seconds]) list.length = 0
      return spawned
    },
    close() {
      unsubscribe(CREATED, onCreated)
    },
  }
}

const unpaired = (counts: readonly number[]) =>
  new CadreError('INVARIANT', `Sub-agents and their requests cannot be paired: calls, starts, first and second requests were ${counts.join(', ')}.`)

const urlOf = (request: ClientRequest): string => `${request.protocol}//${String(request.getHeader('host'))}${request.path}`
