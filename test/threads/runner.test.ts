import { afterAll, describe, expect, test } from 'vitest'

import type { Host } from '../../src/core/contract.ts'
import { CadreError } from '../../src/core/errors.ts'
import type { Runner } from '../../src/threads/runner.ts'
import { GROWTH } from '../../src/threads/growth.ts'
import { createThreads } from '../../src/threads/runner.ts'
import { BARE, brief, local, MISBEHAVING, never, remote, reply, scripted } from './scripted.ts'

const threads = createThreads({ entry: MISBEHAVING, max: 12, heapMb: 32 })
afterAll(() => threads.close())

/** A run of one tool that tells when it is running. */
function running(tool: string, runner: Runner, signal: AbortSignal) {
  const begun = new Int32Array(new SharedArrayBuffer(4))
  const { host } = scripted([[local(tool, { begun } as never)]])
  const { async, value } = Atomics.waitAsync(begun, 0, 0)
  return { began: async ? value : Promise.resolve(value), run: runner.run({ brief: brief(tool), host, signal }) }
}

const settled = (ms: number) => new Promise((resolve) => { setTimeout(resolve, ms) })

describe('a run', () => {
  test('TOO-12: outcomes keep the order of the calls, whichever side ran them and however long they took', async () => {
    const { host, handed } = scripted([[local('later', { text: 'slow', ms: 60 }, '1'), remote('bash', { command: 'ls' }, '2'), local('echo', { text: 'fast' }, '3')]])
    await expect(threads.run({ brief: brief(), host, signal: never() })).resolves.toEqual({ text: 'done', turns: 2 })
    expect(handed[1]?.map(({ callId, text }) => [callId, text])).toEqual([['1', 'slow'], ['2', 'main side: {"command":"ls"}'], ['3', 'fast']])
  })

  test('TOO-12: read calls of one reply run at the same time: each waits for all the others', async () => {
    const all = 20
    const begun = new Int32Array(new SharedArrayBuffer(4))
    const calls = Array.from({ length: all }, (_, i) => local('meet', { all, begun } as never, String(i)))
    const { host, handed } = scripted([calls])
    await threads.run({ brief: brief(), host, signal: never() })
    expect(handed[1]?.map(({ text }) => text)).toEqual(Array(all).fill('all are here'))
  })

  test('TOO-01: a failed read, a hostile throw and an unknown tool are outcomes that begin with Error', async () => {
    const { host, handed } = scripted([[local('fails'), local('throwsHostile'), local('toString')]])
    await threads.run({ brief: brief(), host, signal: never() })
    expect(handed[1]?.map(({ ok }) => ok)).toEqual([false, false, false])
    expect(handed[1]?.map(({ text }) => text)).toEqual([
      'Error: No such file: a.txt',
      'Error: an error that cannot be printed',
      expect.stringMatching(/^Error: Unknown tool toString\. Available: echo, later, .*\.$/),
    ])
  })

  test('a tool gets the root, paths and form of its brief, and hands back what it read', async () => {
    const { host, handed } = scripted([[local('context'), local('reads')]])
    await threads.run({ brief: brief('a1', { root: '/r', paths: ['/p'], form: 'data' }), host, signal: never() })
    expect(handed[1]?.map(({ text }) => text)[0]).toBe('{"root":"/r","paths":["/p"],"form":"data"}')
    expect(handed[1]?.[1]?.reads).toEqual([{ path: '/a', hash: '00' }])
  })

  test('a thread is not sent what it does not need: provider content, and inputs of calls it will not run', async () => {
    let sent: unknown
    const { host } = scripted([[local('echo', { text: 'x' })]])
    const spy: Host = { ...host, next: async (outcomes) => ({ ...await host.next(outcomes), opaque: () => { sent = 'a function cannot be cloned' } } as never) }
    await expect(threads.run({ brief: brief(), host: spy, signal: never() })).resolves.toMatchObject({ text: 'done' })
    expect(sent).toBeUndefined()
  })

  test('a stop of the main side comes through as the very error it was', async () => {
    const stop = new CadreError('STOPPED', 'the budget is spent')
    for (const host of [
      { ...scripted([]).host, next: () => Promise.reject(stop) },
      { ...scripted([]).host, next: () => { throw stop } },
      { ...scripted([[remote('bash')]]).host, call: () => Promise.reject(stop) },
    ]) {
      expect(await threads.run({ brief: brief(), host, signal: never() }).catch((error: unknown) => error)).toBe(stop)
    }
  })

  test('a reply that cannot cross fails that agent alone, in words', async () => {
    const host = { ...scripted([]).host, next: async () => reply([{ ...local('echo'), input: (() => 1) as never }]) }
    await expect(threads.run({ brief: brief(), host, signal: never() })).rejects.toMatchObject({ code: 'CRASHED', message: expect.stringContaining('could not be cloned') })
  })
})

describe('KIN-13', () => {
  const ends = {
    heap: 'it ran out of memory (its heap may hold 32 MB)',
    exit: 'it exited with code 7',
    uncaught: 'it threw: thrown from a timer',
    unhandled: 'it threw: rejected by nobody',
  }
  for (const [tool, what] of Object.entries(ends)) {
    test(`a thread with the tool ${tool} fails its agent with a message that names agent, turn and calls in hand`, async () => {
      const { host } = scripted([[local('echo', { text: '' })], [local(tool, {}, 'c7'), remote('bash', {}, 'c8'), local('echo', { text: '' }, 'c9')]])
      const error = await threads.run({ brief: brief('a42'), host, signal: never() }).catch((error: unknown) => error)
      expect(error).toMatchObject({ code: 'CRASHED' })
      expect(String(error)).toMatch(/agent a42 \(explorer\), turn 2, calls in hand: /)
      expect(String(error)).toContain(`${tool} (c7)`)
      expect(String(error)).toContain(`: ${what}. `)
    })
  }

  test('nine healthy neighbours finish while one hangs, one throws, one exits and one runs out of heap', async () => {
    const stop = new AbortController()
    const hung = running('regex', threads, stop.signal)
    const bad = [
      hung.run,
      ...['uncaught', 'exit', 'heap'].map((tool) => threads.run({ brief: brief(tool), host: scripted([[local(tool)]]).host, signal: never() })),
    ]
    const good = Array.from({ length: 9 }, (_, i) => {
      const { host } = scripted(Array.from({ length: 5 }, () => [local('later', { text: 'x', ms: 20 })]))
      return threads.run({ brief: brief(`good-${i}`), host, signal: never() })
    })
    const ended = Promise.allSettled(bad)
    expect(await Promise.all(good)).toEqual(Array.from({ length: 9 }, () => ({ text: 'done', turns: 6 })))
    await hung.began
    stop.abort(new Error('enough'))
    expect((await ended).map((end) => (end.status === 'rejected' ? String(end.reason) : end.value))).toEqual([
      'Error: enough',
      expect.stringContaining('thrown from a timer'),
      expect.stringContaining('exited with code 7'),
      expect.stringContaining('ran out of memory'),
    ])
  })

  test('a pool of one thread goes on with what waits after each crash', async () => {
    const one = createThreads({ entry: MISBEHAVING, max: 1 })
    const runs = Array.from({ length: 6 }, (_, i) =>
      one.run({ brief: brief(`a${i}`), host: scripted([[local(i % 2 === 0 ? 'exit' : 'echo', { text: 'x' })]]).host, signal: never() }))
    expect((await Promise.allSettled(runs)).map(({ status }) => status)).toEqual(['rejected', 'fulfilled', 'rejected', 'fulfilled', 'rejected', 'fulfilled'])
    await one.close()
  })

  test('an entry that cannot be started fails every run that waits for it, naming it', async () => {
    const broken = createThreads({ entry: new URL('fixtures/there-is-none.ts', import.meta.url) })
    broken.warm(3)
    const runs = Array.from({ length: 5 }, () => broken.run({ brief: brief(), host: scripted([]).host, signal: never() }))
    for (const end of await Promise.allSettled(runs)) {
      expect(end).toMatchObject({ status: 'rejected', reason: { code: 'CRASHED', message: expect.stringContaining('there-is-none.ts') } })
    }
    await broken.close()
  })
})

describe('stopping a run', () => {
  test('a signal that is already aborted starts nothing', async () => {
    const { host, handed } = scripted([])
    const reason = new Error('before')
    await expect(threads.run({ brief: brief(), host, signal: AbortSignal.abort(reason) })).rejects.toBe(reason)
    await expect(threads.calls({ brief: brief(), calls: [local('echo')], signal: AbortSignal.abort(reason) })).rejects.toBe(reason)
    expect(handed).toEqual([])
  })

  test('a run that waits for a host that never answers stops at once, and its thread serves the next', async () => {
    const one = createThreads({ entry: MISBEHAVING, max: 1 })
    const stop = new AbortController()
    const asked = Promise.withResolvers<void>()
    const { host } = scripted([[local('echo', { text: 'x' })]])
    const next: Host['next'] = (outcomes) => (outcomes.length === 0 ? host.next(outcomes) : (asked.resolve(), new Promise(() => {})))
    const run = one.run({ brief: brief(), host: { ...host, next }, signal: stop.signal })
    await asked.promise
    expect(one.stats()).toEqual({ threads: 1, busy: 1 })
    stop.abort(new Error('user'))
    await expect(run).rejects.toThrow('user')
    expect(one.stats()).toEqual({ threads: 1, busy: 0 })
    await expect(one.run({ brief: brief(), host: scripted([]).host, signal: never() })).resolves.toMatchObject({ turns: 1 })
    await one.close()
  })

  test('a tool that looks whether it was stopped keeps its thread alive', async () => {
    const one = createThreads({ entry: MISBEHAVING, max: 1 })
    const stop = new AbortController()
    const { run, began } = running('patient', one, stop.signal)
    await began
    stop.abort(new Error('user'))
    await expect(run).rejects.toThrow('user')
    expect(one.stats()).toEqual({ threads: 1, busy: 0 })
    await one.close()
  })

  for (const tool of ['regex', 'busy']) {
    test(`SHL-08: a thread stuck in ${tool} is ended after its grace time, and the run settles`, async () => {
      const one = createThreads({ entry: MISBEHAVING, max: 1 })
      const stop = new AbortController()
      const { run, began } = running(tool, one, stop.signal)
      await began
      stop.abort(new Error('user'))
      await expect(run).rejects.toThrow('user')
      expect(one.stats().threads).toBe(0)
      const calls = one.calls({ brief: brief(), calls: [local('echo', { text: 'x' })], signal: never() })
      await expect(calls).resolves.toMatchObject([{ ok: true, text: 'x' }])
      await one.close()
    })
  }

  test('a run that waits in line leaves it at once when stopped', async () => {
    const one = createThreads({ entry: MISBEHAVING, max: 1 })
    const stop = new AbortController()
    const first = new AbortController()
    const { run, began } = running('patient', one, first.signal)
    await began
    const waiting = one.run({ brief: brief('second'), host: scripted([]).host, signal: stop.signal })
    stop.abort(new Error('user'))
    await expect(waiting).rejects.toThrow('user')
    expect(one.stats()).toEqual({ threads: 1, busy: 1 })
    first.abort(new Error('test'))
    await expect(run).rejects.toThrow('test')
    await one.close()
  })

  test('closing ends what runs and what waits, and refuses what comes later', async () => {
    const one = createThreads({ entry: MISBEHAVING, max: 1 })
    const { run, began } = running('busy', one, never())
    const ended = Promise.allSettled([run, one.run({ brief: brief(), host: scripted([]).host, signal: never() })])
    await began
    await one.close()
    for (const end of await ended) expect(end).toMatchObject({ status: 'rejected', reason: { code: 'STOPPED' } })
    await expect(one.run({ brief: brief(), host: scripted([]).host, signal: never() })).rejects.toMatchObject({ code: 'STOPPED' })
    expect(one.stats().threads).toBe(0)
  })
})

describe('calls of an agent whose loop is on the main thread', () => {
  test('run side by side, keep their order, and fail as outcomes', async () => {
    const calls = [local('later', { text: 'slow', ms: 50 }, '1'), local('fails', {}, '2'), local('nope', {}, '3')]
    const outcomes = await threads.calls({ brief: brief(), calls, signal: never() })
    expect(outcomes.map(({ callId, ok }) => [callId, ok])).toEqual([['1', true], ['2', false], ['3', false]])
    expect(await threads.calls({ brief: brief(), calls: [], signal: never() })).toEqual([])
  })

  test('a crash names them', async () => {
    const calls = threads.calls({ brief: brief('root'), calls: [local('exit', {}, 'c1')], signal: never() })
    await expect(calls).rejects.toMatchObject({ code: 'CRASHED', message: expect.stringContaining('agent root (explorer), calls in hand: exit (c1): it exited with code 7') })
  })
})

describe('many runs', () => {
  test('1,000 runs asked for at once on one signal all finish, in no more threads than the cap, and leave no listener behind', async () => {
    const warnings: string[] = []
    const note = ({ name }: Error) => void warnings.push(name)
    process.on('warning', note)
    const few = createThreads({ entry: MISBEHAVING, max: 8 })
    const stop = new AbortController()
    let most = 0
    const runs = Array.from({ length: 1_000 }, (_, i) => {
      const { host } = scripted([[local('echo', { text: String(i) })]], String(i))
      return few.run({ brief: brief(`a${i}`), host, signal: stop.signal }).finally(() => { most = Math.max(most, few.stats().threads) })
    })
    expect((await Promise.all(runs)).map(({ text }) => text)).toEqual(Array.from({ length: 1_000 }, (_, i) => String(i)))
    expect(most).toBeLessThanOrEqual(8)
    await settled(0)
    process.off('warning', note)
    expect(warnings).toEqual([])
    await few.close()
  })

  test('two hundred agents wait for their models at once, twice each, in the few threads that their calls need', async () => {
    const few = createThreads({ entry: BARE })
    const turns = [0, 1].map(() => ({ waiting: 0, all: Promise.withResolvers<void>() }))
    const runs = Array.from({ length: 200 }, (_, i) => {
      const { host } = scripted([[local('nothing', {}, String(i))]])
      let turn = 0
      return few.run({
        brief: brief(`a${i}`),
        host: { ...host, async next(outcomes) {
          const here = turns[turn++]
          if (here && (here.waiting += 1) === 200) here.all.resolve()
          await here?.all.promise
          return host.next(outcomes)
        } },
        signal: never(),
      })
    })
    expect(await Promise.all(runs)).toEqual(runs.map(() => ({ text: 'done', turns: 2 })))
    expect(few.stats().threads).toBeLessThanOrEqual(GROWTH.working + GROWTH.stuck) // on a busy machine a task may look stuck for a moment
    await few.close()
  })

  test('agents that hang do not keep others from a thread, nor do agents that wait for calls of the main side', async () => {
    const some = createThreads({ entry: MISBEHAVING, max: 12 })
    const stop = new AbortController()
    const hung = Array.from({ length: 3 }, () => running('patient', some, stop.signal)) // as good as hung: it ends when it is stopped
    const answered = Promise.withResolvers<void>()
    const away = Array.from({ length: 5 }, (_, i) => {
      const { host } = scripted([[remote('agent', {}, String(i))]])
      return some.run({ brief: brief(), host: { ...host, call: (calls) => answered.promise.then(() => host.call(calls)) }, signal: never() })
    })
    await Promise.all(hung.map(({ began }) => began))
    const ends = Promise.allSettled(hung.map(({ run }) => run))
    await expect(some.run({ brief: brief(), host: scripted([[local('echo', { text: 'x' })]]).host, signal: never() })).resolves.toMatchObject({ turns: 2 })
    answered.resolve()
    expect(await Promise.all(away)).toHaveLength(5)
    stop.abort(new Error('test'))
    await ends
    await some.close()
  })

  test('an agent that lost its thread to another goes on in any, with its turns counted on and nothing of it asked twice', async () => {
    const one = createThreads({ entry: MISBEHAVING, max: 1 })
    const agents = Array.from({ length: 8 }, (_, i) => {
      const said = scripted(Array.from({ length: 5 }, (__, turn) => [local('echo', { text: `${i}.${turn}` }), remote('bash', {}, 'r')]))
      const host: Host = { ...said.host, next: async (outcomes) => (await settled(i), said.host.next(outcomes)) }
      return { said, run: one.run({ brief: brief(`a${i}`), host, signal: never() }) }
    })
    for (const [i, { said, run }] of agents.entries()) {
      expect(await run).toEqual({ text: 'done', turns: 6 })
      expect(said.handed.map((outcomes) => outcomes[0]?.text)).toEqual([undefined, ...[0, 1, 2, 3, 4].map((turn) => `${i}.${turn}`)])
      expect(said.asked).toHaveLength(5)
    }
    expect(one.stats().threads).toBe(1)
    await one.close()
  })

  test('a thread that dies while its agent only waits for a reply loses nothing of that agent', async () => {
    const one = createThreads({ entry: MISBEHAVING, max: 1 })
    const { host, handed } = scripted([[local('diesLater', { ms: 30 })], [local('echo', { text: 'x' })]])
    const slow: Host = { ...host, next: async (outcomes) => (outcomes.length > 0 && await settled(300), host.next(outcomes)) }
    await expect(one.run({ brief: brief(), host: slow, signal: never() })).resolves.toEqual({ text: 'done', turns: 3 })
    expect(handed.map((outcomes) => outcomes.map(({ text }) => text))).toEqual([[], ['will die'], ['x']])
    await one.close()
  })

  test('an agent that is stopped just when it has to leave its thread settles at once, though its host never answers', async () => {
    const one = createThreads({ entry: MISBEHAVING, max: 1 })
    const stop = new AbortController()
    const { host } = scripted([[local('echo', { text: 'x' })]])
    const asked = Promise.withResolvers<void>()
    const next: Host['next'] = (outcomes) => (outcomes.length === 0 ? host.next(outcomes) : (asked.resolve(), new Promise(() => {})))
    const run = one.run({ brief: brief(), host: { ...host, next }, signal: stop.signal })
    await asked.promise
    const other = one.calls({ brief: brief('other'), calls: [local('echo', { text: 'y' })], signal: never() })
    stop.abort(new Error('user')) // the thread was asked back for the other agent, and has not left yet
    await expect(run).rejects.toThrow('user')
    await expect(other).resolves.toMatchObject([{ text: 'y' }])
    await one.close()
  })

  test('a new agent takes an idle thread before it asks a waiting one for its own', async () => {
    const two = createThreads({ entry: MISBEHAVING, max: 2 })
    two.warm(2)
    await expect.poll(() => two.stats(), { timeout: 15_000 }).toEqual({ threads: 2, busy: 0 })
    const waiting = Promise.withResolvers<void>()
    const answer = Promise.withResolvers<void>()
    const { host } = scripted([[local('echo', { text: 'x' })]])
    const next: Host['next'] = async (outcomes) => {
      if (outcomes.length > 0) waiting.resolve()
      if (outcomes.length > 0) await answer.promise
      return host.next(outcomes)
    }
    const run = two.run({ brief: brief(), host: { ...host, next }, signal: never() })
    await waiting.promise
    await two.calls({ brief: brief('other'), calls: [local('echo', { text: 'y' })], signal: never() })
    expect(two.stats()).toEqual({ threads: 2, busy: 1 }) // still sitting in its thread
    answer.resolve()
    await run
    await two.close()
  })

  test('closing ends agents that have no thread at the moment', async () => {
    const one = createThreads({ entry: MISBEHAVING, max: 1 })
    const run = one.run({ brief: brief(), host: { ...scripted([]).host, next: () => new Promise(() => {}) }, signal: never() })
    const ended = Promise.allSettled([run])
    await one.close()
    expect(await ended).toMatchObject([{ status: 'rejected', reason: { code: 'STOPPED' } }])
  })

  test('a thread that was told to leave gets nothing more: no turn is paid for twice', async () => {
    const lying = createThreads({ entry: new URL('fixtures/asks-again.js', import.meta.url), max: 1 })
    const { host, handed } = scripted([[local('echo')]])
    const asked = Promise.withResolvers<void>()
    const next: Host['next'] = (outcomes) => {
      if (outcomes.length === 0) return host.next(outcomes)
      asked.resolve()
      handed.push(outcomes)
      return new Promise(() => {})
    }
    const run = lying.run({ brief: brief(), host: { ...host, next }, signal: never() })
    await asked.promise
    const other = lying.run({ brief: brief(), host: scripted([[local('echo')]]).host, signal: never() })
    await expect(run).rejects.toMatchObject({ code: 'GUARD' })
    expect(handed).toHaveLength(2)
    await expect(other).resolves.toMatchObject({ turns: 2 })
    await lying.close()
  })

  test('a thread that says it left while nobody asked it to is refused', async () => {
    const lying = createThreads({ entry: new URL('fixtures/leaves.js', import.meta.url), max: 1 })
    await expect(lying.run({ brief: brief(), host: scripted([[local('echo')]]).host, signal: never() })).rejects.toMatchObject({ code: 'GUARD' })
    await lying.close()
  })

  test('agents that end quickly are served by a few threads, not by one each', async () => {
    const quick = createThreads({ entry: MISBEHAVING })
    await Promise.all(Array.from({ length: 100 }, () => quick.run({ brief: brief(), host: scripted([]).host, signal: never() })))
    expect(quick.stats().threads).toBeLessThanOrEqual(GROWTH.working + GROWTH.stuck)
    await quick.close()
  })

  test('threads started ahead of need are there, and no more than the cap', async () => {
    const warm = createThreads({ entry: MISBEHAVING, max: 3 })
    warm.warm(100)
    const runs = Array.from({ length: 3 }, () => warm.run({ brief: brief(), host: scripted([]).host, signal: never() }))
    await expect.poll(() => warm.stats(), { timeout: 15_000 }).toEqual({ threads: 3, busy: 0 })
    expect(await Promise.all(runs)).toHaveLength(3)
    await warm.close()
    warm.warm(1)
    expect(warm.stats()).toEqual({ threads: 0, busy: 0 })
  })
})
