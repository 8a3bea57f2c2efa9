import { statSync } from 'node:fs'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { expect, test } from 'vitest'
import type { Orchestrator } from '../../src/api.ts'
import type { CadreEvent } from '../../src/core/events.ts'
import { holds, ofType } from '../delegation/lab.ts'
import type { Script } from '../server/provider-server.ts'
import { openStage } from './stage.ts'

const CREW = 500
const PER_REPLY = 50

/** So many children are answered at once, or all that wait after so many ms. */
const BURST = { size: 12, ms: 30 }

/** A look at the heap after so many ends. */
const LOOK_EVERY = 25

const MB = 1024 * 1024

setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc') as () => void

function heap(): number {
  collect()
  return process.memoryUsage().heapUsed / MB
}

/** Holds answers back and lets them go many at a time. */
function bursts(): () => Promise<void> {
  const waiting: (() => void)[] = []
  let timer: NodeJS.Timeout | undefined
  function letGo(): void {
    clearTimeout(timer)
    timer = undefined
    for (const go of waiting.splice(0)) go()
  }
  return () => new Promise((resolve) => {
    waiting.push(resolve)
    timer ??= setTimeout(letGo, BURST.ms)
    if (waiting.length >= BURST.size) letGo()
  })
}

const NOTICE = /<task-id>(sa-[0-9a-z]{8})<\/task-id>/

const PART = /Look at part (\d+)\./g

function crew(): Script {
  const burst = bursts()
  /** Parts that a request showed to be handed out. Its turns do not tell: a summary may have taken the place of the first ones. */
  let handedOut = 0
  const child = (n: number) => ({ name: 'agent', input: { description: `part ${n}`, prompt: `Look at part ${n}.`, subagent_type: 'explorer', run_in_background: true } })
  return async (request) => {
    if (!holds(request, 'agent')) {
      await burst()
      return { text: `${request.task} Nothing to see here, and that at some length. ${'…'.repeat(200)}` }
    }
    for (const [, part] of JSON.stringify(request.body).matchAll(PART)) handedOut = Math.max(handedOut, Number(part))
    if (handedOut === CREW) return { text: 'Seen.' }
    return { calls: Array.from({ length: PER_REPLY }, (_, i) => child(handedOut + i + 1)) }
  }
}

const median = (numbers: readonly number[]): number => numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)] ?? 0

test('JRN-08, DEL-03, DEL-06: 500 background agents end in bursts, the process dies and is closed on the way: 500 distinct notices, and memory stays flat', async () => {
  const stage = await openStage({ script: crew(), record: false })
  const began = performance.now()
  const look = { heaps: [] as number[], ends: 0, peak: 0 }

  /** Counts ends below the root run, and looks at the heap now and then. True at the end number `last` of this life. */
  function watch(last: number): (event: CadreEvent) => boolean {
    let ends = 0
    return ({ type, depth }) => {
      if (type !== 'delegation.ended' || depth === 0) return false
      ends += 1
      look.ends += 1
      look.peak = Math.max(look.peak, process.memoryUsage().rss / MB)
      if (look.ends % LOOK_EVERY === 0) look.heaps.push(heap())
      return ends === last
    }
  }

  let session = ''
  await stage.die(watch(200), (cadre) => cadre.run({ prompt: 'Look at all of it.' }), { onEvent: (event) => { session = event.session } })

  const closing = watch(150)
  const { promise: closed, resolve: close } = Promise.withResolvers<void>()
  const second = await stage.open({ onEvent: (event) => { if (closing(event)) close() } })
  const running = second.cadre.resume({ session })
  await closed
  await second.cadre.close()
  expect(await running).toMatchObject({ status: 'killed', cause: 'user' })

  const before = heap()
  const { cadre } = await stage.open({ onEvent: watch(Infinity) })
  const result = await cadre.resume({ session, prompt: 'Did they all come?' })
  expect(result.status).toBe('completed')
  await cadre.settled()
  const after = heap()

  expectAllTold(cadre, result)
  const middle = Math.floor(look.heaps.length / 2)
  const halves = [median(look.heaps.slice(0, middle)), median(look.heaps.slice(middle))] as const
  const { size } = statSync(cadre.journal.file)
  const mb = (...sizes: readonly number[]) => sizes.map((one) => `${one.toFixed(1)} MB`).join(' then ')
  console.log([
    `${CREW} agents: ${((performance.now() - began) / 1000).toFixed(1)} s`, `journal ${mb(size / MB)}`, `peak ${mb(look.peak)} resident`,
    `heap in its halves ${mb(...halves)}`, `around its last life ${mb(before, after)}`,
  ].join(', '))
  // A crew whose results, conversations or events stayed would hold some 10 KB of each.
  expect(halves[1] - halves[0]).toBeLessThan(4)
  expect(after - before).toBeLessThan(4)
}, 600_000)

function expectAllTold(cadre: Orchestrator, { session, agentId }: { readonly session: string; readonly agentId: string }): void {
  const events = [...cadre.journal.events({ session, types: ['delegation.started', 'delegation.queued', 'delegation.ended', 'notification'] })]
  const ends = ofType(events, 'delegation.ended').filter(({ depth }) => depth === 1).map(({ agent }) => agent)
  const notices = ofType(events, 'notification').map(({ data }) => data.of)
  expect(ends).toHaveLength(CREW)
  expect(new Set(ends).size).toBe(CREW)
  expect(notices.toSorted()).toEqual(ends.toSorted())
  // Its history is longer than what its model still sees word for word.
  const history = cadre.journal.transcript(agentId, { full: true })
    .flatMap((message) => (message.role === 'user' && message.synthetic === 'task_notification' ? (NOTICE.exec(message.text)?.[1] ?? []) : []))
  expect(history.toSorted()).toEqual(ends.toSorted())
  expect(cadre.journal.undelivered(agentId)).toEqual([])
  expect(cadre.agents.list()).toEqual([])
}
