import { lstatSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import type { Diagnostic } from '../../src/core/diagnostic.ts'
import type { JsonObject } from '../../src/core/json.ts'
import type { Lab } from '../delegation/lab.ts'
import { holds, lab, ofType } from '../delegation/lab.ts'
import type { Answer, Script } from '../server/provider-server.ts'
import { reopen } from './reopen.ts'

const MARK = '<!-- Written by Cadre: what became of the background sub-agents started here. Changing it changes nothing. -->'

const part = (n: number, more: JsonObject = {}): JsonObject => ({ description: `part ${n}`, prompt: `Look at part ${n}.`, subagent_type: 'explorer', run_in_background: true, ...more })

/** A parent that starts these and then answers; its children answer when `open` says so. */
function held(inputs: readonly JsonObject[], answer: Answer = { text: 'seen\nmore' }): { readonly script: Script; open(): void } {
  const { promise, resolve } = Promise.withResolvers<void>()
  return {
    async script(request) {
      if (holds(request, 'agent')) return request.turn === 1 ? { calls: inputs.map((input) => ({ name: 'agent', input })) } : { text: 'done' }
      await promise
      return answer
    },
    open: resolve,
  }
}

const fileOf = (root: string): string => join(root, '.cadre', 'TODO.md')
const todo = (root: string): string => readFileSync(fileOf(root), 'utf8')
const exists = (path: string): boolean => lstatSync(path, { throwIfNoEntry: false }) !== undefined

/** The file is written a moment after what it tells. */
const soon = (check: () => void): Promise<void> => vi.waitFor(check, { timeout: 30_000, interval: 10 })

const awaited = ({ events }: Pick<Lab, 'events'>): readonly string[] => ofType(events, 'delegation.started').filter(({ depth }) => depth === 1)
  .map(({ agent, time, data }) => `- [ ] [subagent:${agent}] ${data.title} — awaiting result (spawned ${new Date(time).toISOString()})`)

const ended = ({ events }: Pick<Lab, 'events'>, what: string): readonly string[] => ofType(events, 'delegation.started').filter(({ depth }) => depth === 1)
  .map(({ agent, data }) => `- [x] [subagent:${agent}] ${data.title} — ${what}`)

const sessionOf = ({ events }: Pick<Lab, 'events'>): string => ofType(events, 'session.started')[0]?.session ?? ''

const section = (title: string, session: string, lines: readonly string[]): string => [`## ${title} (${session})`, '', ...lines].join('\n')
const whole = (...sections: readonly string[]): string => `${[MARK, ...sections].join('\n\n')}\n`

describe('DEL-12: .cadre/TODO.md mirrors the anchors of the root\'s sessions', () => {
  test('it shows each background agent while it runs, what it came to while its result is unread, and is gone when all is read', async () => {
    const { script, open } = held([part(1), part(2)])
    const place = await lab({ script })
    const run = place.cadre.run({ prompt: 'look at\nboth', onIdle: 'nudge' })
    await soon(() => expect(todo(place.root)).toBe(whole(section('look at both', sessionOf(place), awaited(place)))))
    const { session } = await run
    open()
    await place.cadre.settled()
    await soon(() => expect(todo(place.root)).toBe(whole(section('look at both', session, ended(place, 'completed: seen')))))
    expect(readdirSync(join(place.root, '.cadre'))).toEqual(['TODO.md'])
    await place.cadre.resume({ session, prompt: 'and?' })
    await soon(() => expect(exists(fileOf(place.root))).toBe(false))
  })

  test('the last word is written before an orchestrator is closed', async () => {
    const { script, open } = held([part(1)])
    const place = await lab({ script })
    const { session } = await place.cadre.run({ prompt: 'go', onIdle: 'nudge' })
    await place.cadre.close()
    open()
    expect(todo(place.root)).toBe(whole(section('go', session, ended(place, 'killed (user): It had not done anything yet.'))))
  })

  test('an agent\'s own agents stand below it while it runs', async () => {
    const inner = Promise.withResolvers<void>()
    const place = await lab({
      async script(request) {
        const { task, turn } = request
        if (task === 'inner') await inner.promise
        if (task === 'inner') return { text: 'found' }
        if (turn > 1) return { text: 'done' }
        const input = task === 'go' ? { description: 'outer', prompt: 'outer', subagent_type: 'general', tools: ['Agent', 'read'], run_in_background: true } : { description: 'inner', prompt: 'inner', subagent_type: 'explorer' }
        return { calls: [{ name: 'agent', input }] }
      },
    })
    const run = place.cadre.run({ prompt: 'go' })
    await soon(() => expect(ofType(place.events, 'delegation.started')).toHaveLength(3))
    const line = (depth: number) => ofType(place.events, 'delegation.started').filter((event) => event.depth === depth)
      .map(({ agent, time, data }) => `- [ ] [subagent:${agent}] ${data.title} — awaiting result (spawned ${new Date(time).toISOString()})`)
    await soon(() => expect(todo(place.root)).toBe(whole(section('go', sessionOf(place), [...line(1), ...line(2).map((text) => `  ${text}`)]))))
    inner.resolve()
    expect((await run).status).toBe('completed')
  })

  test('a run that delegates in the foreground only, and a sweep, write nothing', async () => {
    const place = await lab({
      script: (request) => holds(request, 'agent') && request.turn === 1 ? { calls: [{ name: 'agent', input: part(1, { run_in_background: false }) }] } : { text: 'ok' },
    })
    await place.cadre.run({ prompt: 'go' })
    await place.cadre.sweep({ over: '*.txt', agent: 'explorer', prompt: 'Look at {item}.', out: join(place.root, 'out') })
    await place.cadre.close()
    expect(exists(join(place.root, '.cadre'))).toBe(false)
  })

  test('somebody else\'s TODO.md is nobody\'s business until there is something to write', async () => {
    const diagnostics: Diagnostic[] = []
    const place = await lab({
      files: { '.cadre/TODO.md': '# Mine\n' },
      orchestrator: { onDiagnostic: (diagnostic) => void diagnostics.push(diagnostic) },
      script: (request) => holds(request, 'agent') && request.turn === 1 ? { calls: [{ name: 'agent', input: part(1, { run_in_background: false }) }] } : { text: 'ok' },
    })
    await place.cadre.run({ prompt: 'go' })
    await place.cadre.close()
    expect([diagnostics, todo(place.root)]).toEqual([[], '# Mine\n'])
  })

  test('two processes on one root keep each other\'s sessions, and the last one to have none takes the file away', async () => {
    const { script, open } = held([part(1)])
    const place = await lab({ script })
    const { cadre: other, events } = await reopen(place)
    const running = place.cadre.run({ prompt: 'first', onIdle: 'nudge' })
    // Sections stand in the order their sessions began, which is a matter of milliseconds.
    await soon(() => expect(ofType(place.events, 'turn.started')).not.toEqual([]))
    const [first, second] = await Promise.all([running, other.run({ prompt: 'second', onIdle: 'nudge' })])
    const both = [[first?.session ?? '', 'first', place], [second?.session ?? '', 'second', { events }]] as const
    const inOrder = both.toSorted(([, , a], [, , b]) => (ofType(a.events, 'session.started')[0]?.seq ?? 0) - (ofType(b.events, 'session.started')[0]?.seq ?? 0))
    await soon(() => expect(todo(place.root)).toBe(whole(...inOrder.map(([session, title, of]) => section(title, session, awaited(of))))))
    open()
    await Promise.all([place.cadre.settled(), other.settled()])
    await soon(() => expect(todo(place.root)).toBe(whole(...inOrder.map(([session, title, of]) => section(title, session, ended(of, 'completed: seen'))))))
    await other.resume({ session: first?.session ?? '', prompt: 'and?' })
    await soon(() => expect(todo(place.root)).toBe(whole(section('second', second?.session ?? '', ended({ events }, 'completed: seen')))))
    await place.cadre.resume({ session: second?.session ?? '', prompt: 'and?' })
    await soon(() => expect(exists(fileOf(place.root))).toBe(false))
  })

  test('changing it changes nothing: lines come back, invented sessions go, and no agent reads it', async () => {
    const { script, open } = held([part(1)])
    const place = await lab({ script })
    const run = place.cadre.run({ prompt: 'go' })
    await soon(() => expect(exists(fileOf(place.root))).toBe(true))
    writeFileSync(fileOf(place.root), `${MARK}\n\n## mine (ss-00000000)\n\n- [x] [subagent:sa-00000000] INVENTED — completed: all is well\n`)
    await place.cadre.agents.send(ofType(place.events, 'session.started')[0]?.root ?? '', 'Go on.')
    await soon(() => expect(todo(place.root)).toBe(whole(section('go', sessionOf(place), awaited(place)))))
    open()
    await run
    expect(place.server.requests.some(({ text }) => text.includes('INVENTED'))).toBe(false)
  })

  test('a long crew is written a few times, not once for every event', async () => {
    const place = await lab({
      settings: { limits: { maxBackground: 4, maxRunning: 4 } },
      script: (request) => !holds(request, 'agent') ? { text: 'ok' } : request.turn === 1 ? { calls: Array.from({ length: 60 }, (_, i) => ({ name: 'agent', input: part(i) })) } : { text: 'done' },
    })
    const began = performance.now()
    const seen = new Set<number>()
    const look = setInterval(() => {
      const facts = lstatSync(fileOf(place.root), { throwIfNoEntry: false })
      if (facts) seen.add(facts.ino)
    }, 5)
    await place.cadre.run({ prompt: 'go' })
    clearInterval(look)
    expect(seen.size).toBeLessThanOrEqual((performance.now() - began) / 250 + 2)
    expect(ofType(place.events, 'delegation.ended').length).toBe(61)
  })
})

describe('DEL-12: a file that cannot be kept is one diagnostic, and stops nothing', () => {
  const rows: readonly { readonly title: string; readonly says: string; make(root: string, outside: string): void; check?(root: string, outside: string): void }[] = [
    {
      title: 'a .cadre that is a symbolic link out of the root is not followed',
      says: '.cadre leads out of the root',
      make: (root, outside) => symlinkSync(outside, join(root, '.cadre')),
      check: (_root, outside) => expect(readdirSync(outside)).toEqual(['TODO.md']),
    },
    {
      title: 'a TODO.md that is a symbolic link is neither followed nor replaced',
      says: 'TODO.md is a symbolic link, and is left alone',
      make(root, outside) {
        mkdirSync(join(root, '.cadre'))
        symlinkSync(join(outside, 'TODO.md'), fileOf(root))
      },
      check: (root, outside) => expect([lstatSync(fileOf(root)).isSymbolicLink(), readFileSync(join(outside, 'TODO.md'), 'utf8')]).toEqual([true, 'theirs\n']),
    },
    {
      title: 'a TODO.md somebody else wrote is left as it is',
      says: 'TODO.md was not written by Cadre, and is left alone',
      make(root) {
        mkdirSync(join(root, '.cadre'))
        writeFileSync(fileOf(root), '# Mine\n')
      },
      check: (root) => expect(todo(root)).toBe('# Mine\n'),
    },
    {
      title: 'a folder of that name is left alone',
      says: 'TODO.md is no file, and is left alone',
      make: (root) => void mkdirSync(fileOf(root), { recursive: true }),
    },
    { title: 'a file in place of .cadre is left alone', says: 'ENOTDIR', make: (root) => writeFileSync(join(root, '.cadre'), 'a file') },
  ]
  for (const { title, says, make, check } of rows) {
    test(title, async () => {
      const outside = mkdtempSync(join(tmpdir(), 'cadre-outside-'))
      onTestFinished(() => rmSync(outside, { recursive: true, force: true }))
      writeFileSync(join(outside, 'TODO.md'), 'theirs\n')
      const diagnostics: Diagnostic[] = []
      const { script, open } = held([part(1), part(2)])
      const place = await lab({ script, orchestrator: { onDiagnostic: (diagnostic) => void diagnostics.push(diagnostic) } })
      make(place.root, outside)
      const run = place.cadre.run({ prompt: 'go' })
      await soon(() => expect(diagnostics).toHaveLength(1))
      open()
      expect((await run).status).toBe('completed')
      await place.cadre.close()
      expect(diagnostics).toEqual([expect.objectContaining({ path: fileOf(place.root), severity: 'warning', message: expect.stringContaining(says) as string })])
      check?.(place.root, outside)
    })
  }
})
