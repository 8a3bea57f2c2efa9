import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import type { JsonObject } from '../../src/core/json.ts'
import { holds, lab, ofType } from '../delegation/lab.ts'
import type { Lab } from '../delegation/lab.ts'
import type { Answer, Script, ScriptRequest, Wire } from '../server/provider-server.ts'
import { agent, background, endOf, ends, led, masked, part, says, signal, told, until } from './lead.ts'
import { reopen } from './reopen.ts'

const FIXED = { input: 10, output: 5 }
const startsAll = (inputs: readonly JsonObject[]): Answer => ({ calls: inputs.map(agent) })

/** Ids of the agents below the root, in the order they began. */
const began = ({ events }: Pick<Lab, 'events'>): readonly string[] => ofType(events, 'delegation.started').filter(({ depth }) => depth > 0).map(({ agent: id }) => id)

const startedAs = ({ events }: Pick<Lab, 'events'>, id: string) => ofType(events, 'delegation.started').find((event) => event.agent === id)?.data

/** Requests of whoever does not hold `agent`. */
const childRequests = ({ server }: Pick<Lab, 'server'>): readonly ScriptRequest[] => server.requests.flatMap(({ request }) => (request && !holds(request, 'agent') ? request : []))

const messagesOf = ({ body }: ScriptRequest): readonly unknown[] => (Array.isArray(body['messages']) ? body['messages'] : [])

/** Without the marks of where a provider is to cache. */
const unmarked = (value: unknown): unknown => JSON.parse(JSON.stringify(value).replaceAll(/,"cache_control":\{[^}]*\}/g, ''))

const block = (id: string, { status = 'completed', title = 'part 1', model = 'openai/gpt-test', turns = 1, tools = 0, tokens = 15, lines }: {
  readonly status?: string; readonly title?: string; readonly model?: string; readonly turns?: number; readonly tools?: number; readonly tokens?: number; readonly lines: readonly (string | RegExp)[]
}) => [id, `Sub-agent: ${title} (explorer, ${model})`, `Status: ${status}`, `Turns: ${turns}  Tool calls: ${tools}  Tokens: ${tokens}  Cost: $0.0000  Time: <n> s`, ...lines]
  .map((line) => (typeof line === 'string' ? line : (expect.stringMatching(line) as string)))

const KEPT = /^Note: it keeps version [0-9a-f]{12} of explorer$/

describe('STR-08: an ended agent is continued by a new one with its history', () => {
  for (const wire of ['openai', 'anthropic'] as const satisfies readonly Wire[]) {
    test(`twice, each time on top of all that was said, on the ${wire} wire`, async () => {
      const place = await lab({
        wire,
        script: led([
          startsAll([part(1)]),
          (_request, [first = '']) => ({ calls: [agent({ continue: first, prompt: 'And then?' })] }),
          (_request, ids) => ({ calls: [agent({ continue: ids[1] ?? '', prompt: 'And after that?', description: 'the end' })] }),
        ], ({ turn, task }) => turn === 1 ? { text: 'let me look', calls: [{ name: 'read', input: { path: 'a.txt' } }], usage: FIXED } : { text: `answer to: ${task}`, usage: FIXED }),
      })
      await place.cadre.run({ prompt: 'go' })
      const model = wire === 'openai' ? 'openai/gpt-test' : 'anthropic/claude-test'
      expect(told(place).map((text) => text.split('\n'))).toEqual([
        block('Agent id: <id>', { model, turns: 2, tools: 1, tokens: 30, lines: ['Output:', 'answer to: Look at part 1.'] }),
        block('Agent id: <id> (continued from <id>)', { model, lines: [KEPT, 'Output:', 'answer to: And then?'] }),
        block('Agent id: <id> (continued from <id>)', { model, title: 'the end', lines: [KEPT, 'Output:', 'answer to: And after that?'] }),
      ])
      const [first, second, third] = began(place)
      expect(new Set([first, second, third]).size).toBe(3)
      expect(ends(place.events).map(({ continuedFrom }) => continuedFrom)).toEqual([null, first, second])
      // Byte for byte what the one before was asked, with its reply, and the new prompt.
      const requests = childRequests(place)
      expect(requests).toHaveLength(4)
      for (const [before, after] of [[1, 2], [2, 3]] as const) {
        const [old, now] = [requests[before], requests[after]]
        if (!old || !now) throw new Error('A request is missing')
        expect(now.system).toBe(old.system)
        expect(unmarked(now.body['tools'])).toEqual(unmarked(old.body['tools']))
        expect(unmarked(messagesOf(now).slice(0, messagesOf(old).length))).toEqual(unmarked(messagesOf(old)))
        expect(messagesOf(now)).toHaveLength(messagesOf(old).length + 2)
      }
      expect(requests[3]?.task).toBe('And after that?')
    })
  }

  test('in a new process: the session is resumed, and the old agent goes on', async () => {
    const script = led([startsAll([part(1)]), { text: 'done' }, (_request, [first = '']) => ({ calls: [agent({ continue: first, prompt: 'And then?' })] })], ({ task }) => ({ text: `answer to: ${task}`, usage: FIXED }))
    const place = await lab({ script })
    const { session, agentId } = await place.cadre.run({ prompt: 'go' })
    await place.cadre.close()
    const { cadre, events } = await reopen(place)
    const resumed = await cadre.resume({ session, prompt: 'go on with it' })
    expect(resumed.agentId).toBe(agentId)
    expect(told({ events })[0]?.split('\n')).toEqual(block('Agent id: <id> (continued from <id>)', { lines: [KEPT, 'Output:', 'answer to: And then?'] }))
    const [, last] = childRequests(place)
    expect(last && ['Look at part 1.', 'answer to: Look at part 1.', 'And then?'].every((text) => says(last, text))).toBe(true)
    expect(ends(events)[0]?.continuedFrom).toBe(began(place)[0])
  })

  test('one that was stopped in the middle of a call: the call is answered, and it goes on', async () => {
    const later = signal()
    const place = await lab({
      files: { 'long.txt': `${'a'.repeat(64)}!\n` },
      script: led([startsAll([background(1)]), async (_request, [id = '']) => {
        await until(() => ofType(place.events, 'tool.started').some(({ data }) => data.call.name === 'grep'))
        await place.cadre.agents.stop(id)
        return { calls: [agent({ continue: id, prompt: 'Leave that.', run_in_background: false })] }
      }], (request) => says(request, 'Leave that.') ? { text: 'left' } : { text: 'looking', calls: [{ name: 'grep', input: { pattern: '(a+)+$', path: 'long.txt' } }] }),
    })
    await place.cadre.run({ prompt: 'go' })
    later.give()
    expect(told(place)[1]).toContain('\nOutput:\nleft')
    const last = childRequests(place).at(-1)
    expect(last && says(last, 'Error: the run ended before this call was answered.')).toBe(true)
  })

  test('one that ran in the background does so again, unless the call says otherwise', async () => {
    const place = await lab({ script: led([startsAll([background(1)]), { calls: [{ name: 'agent_wait', input: {} }] }, (_request, [id = '']) => ({ calls: [agent({ continue: id, prompt: 'more' }), agent({ continue: id, prompt: 'more', run_in_background: false })] })]) })
    await place.cadre.run({ prompt: 'go' })
    expect(began(place).map((id) => startedAs(place, id)?.background)).toEqual([true, true, false])
    expect(told(place)[2]).toBe('Started in the background as <id> (part 1). Its result arrives as a task notification: do not poll. Steer it with agent_send, end it with agent_stop.')
  })
})

describe('STR-09: a continued agent keeps its own, and is never wider than who continues it', () => {
  const TYPE = (body: string) => `---\nname: keeper\ndescription: keeps things\ntools: Read, Grep\nmodel: openai/gpt-own\neffort: high\n---\n${body}\n`

  for (const [what, change] of [['edited', (file: string) => writeFileSync(file, TYPE('You are ANOTHER keeper.').replace('Read, Grep', 'Read'))], ['deleted', (file: string) => rmSync(file)]] as const) {
    test(`a type file that was ${what} meanwhile changes nothing about it, also in a new process`, async () => {
      const place = await lab({
        files: { '.cadre/agents/keeper.md': TYPE('You are the FIRST keeper.') },
        orchestrator: { trusted: true },
        script: led([startsAll([part(1, { subagent_type: 'keeper' })]), { text: 'done' }, (_request, [id = '']) => ({ calls: [agent({ continue: id, prompt: 'more' })] })], () => ({ text: 'ok', usage: FIXED })),
      })
      const { session } = await place.cadre.run({ prompt: 'go' })
      await place.cadre.close()
      change(join(place.root, '.cadre/agents/keeper.md'))
      const { cadre, events } = await reopen(place, { trusted: true })
      await cadre.resume({ session, prompt: 'go on' })
      const [before, after] = [startedAs(place, began(place)[0] ?? ''), startedAs({ events }, began({ events })[0] ?? '')]
      expect(after).toEqual({ ...before, prompt: 'more', origin: { kind: 'continue', agent: began(place)[0] }, callId: after?.callId })
      expect(after?.system).toContain('You are the FIRST keeper.')
      expect([after?.model, after?.frozen.effort, after?.typeHash]).toEqual(['openai/gpt-own', 'high', before?.typeHash])
      const [first, second] = childRequests(place)
      expect([second?.system, second?.body['model'], second?.body['reasoning_effort']]).toEqual([first?.system, 'gpt-own', first?.body['reasoning_effort']])
      expect(told({ events })[0]).toContain(`\nNote: it keeps version ${(before?.typeHash ?? '').slice(0, 12)} of keeper\n`)
    })
  }

  test('its figures, limits of the call and schema are its own; what the call takes away stays away', async () => {
    const place = await lab({
      script: led([
        startsAll([part(1, { max_turns: 7, timeout: 100 })]),
        (_request, [id = '']) => ({ calls: [agent({ continue: id, prompt: 'more', tools: ['read'], max_turns: 3, timeout: 500, expected_duration: 60 })] }),
        (_request, ids) => ({ calls: [agent({ continue: ids[1] ?? '', prompt: 'more', tools: ['read', 'grep'], max_turns: 40, output_schema: { type: 'object', properties: { n: { type: 'number' } }, required: ['n'] } })] }),
      ], () => ({ text: '{"n":1}', usage: FIXED })),
    })
    await place.cadre.run({ prompt: 'go' })
    const all = began(place).map((id) => startedAs(place, id))
    expect(all.map((started) => started?.grant.limits)).toEqual([{ maxTurns: 7, timeout: 100 }, { maxTurns: 3, timeout: 100 }, { maxTurns: 3, timeout: 100 }])
    expect(all.slice(1).map((started) => started?.grant.tools.map(({ name }) => name))).toEqual([['read'], ['read']])
    expect(all.map((started) => started?.expectedDuration)).toEqual([null, 60, null])
    expect(ends(place.events).map(({ turns, value }) => [turns, value])).toEqual([[1, null], [1, null], [1, { n: 1 }]])
  })

  test('an agent with few rights continues its own within them, and no deeper', async () => {
    const place = await lab({
      script(request) {
        const { turn } = request
        if (says(request, 'PROMPT OF ROOT')) return turn === 1 ? startsAll([{ description: 'outer', prompt: 'outer', subagent_type: 'general', tools: ['Agent', 'read'] }]) : { text: 'done' }
        if (!says(request, 'inner') || holds(request, 'agent')) {
          if (turn === 1) return startsAll([part(0, { description: 'inner', prompt: 'inner', subagent_type: 'explorer' })])
          const id = /Agent id: (sa-\w{8})/.exec(JSON.stringify(request.body['messages']))?.[1] ?? ''
          return turn === 2 ? { calls: [agent({ continue: id, prompt: 'more' })] } : { text: 'done' }
        }
        return { text: 'ok' }
      },
    })
    await place.cadre.run({ prompt: 'PROMPT OF ROOT' })
    const [outer, inner, continued] = began(place).map((id) => startedAs(place, id))
    const names = (of: typeof outer) => of?.grant.tools.map(({ name }) => name)
    expect([names(inner), names(continued), continued?.grant.depth, inner?.grant.depth]).toEqual([['read'], ['read'], 0, 0])
    expect(continued?.cwd).toBe(inner?.cwd)
  })

  const fields: readonly (readonly [JsonObject, string])[] = [
    [{ subagent_type: 'general' }, 'subagent_type'],
    [{ model: 'openai/other' }, 'model'],
    [{ effort: 'low' }, 'effort'],
    [{ readOnly: true }, 'readOnly'],
    [{ forkContext: false }, 'forkContext'],
    [{ isolation: 'none' }, 'isolation'],
    [{ isolation: 'none', model: 'x', readOnly: 'false', subagent_type: 'x', forkContext: true, effort: 3 }, 'subagent_type, model, effort, readOnly, forkContext, isolation'],
  ]
  test('fields it keeps are refused beside it, each and all', async () => {
    const place = await lab({ script: led([startsAll([part(1)]), (_request, [id = '']) => ({ calls: fields.map(([input]) => agent({ continue: id, prompt: 'more', ...input })) })]) })
    await place.cadre.run({ prompt: 'go' })
    expect(told(place).slice(1)).toEqual(fields.map(([, names]) => `Error: Drop ${names}: a continued agent keeps its own.`))
    expect(ofType(place.events, 'delegation.refused')).toHaveLength(fields.length)
    expect(began(place)).toHaveLength(1)
  })
})

describe('STR-10: who cannot be continued', () => {
  test('one that runs, one the parent stopped, one of somebody else, one that ran a program; each text', async () => {
    const later = signal()
    const PROGRAM = '---\nname: counts\ndescription: counts\nmodel: script\ntools: Read\n---\n```js\nreturn 1\n```\n'
    const place = await lab({
      files: { '.cadre/agents/counts.md': PROGRAM },
      script: led([
        startsAll([background(1), background(2), part(3, { subagent_type: 'counts' })]),
        (_request, [, second = '']) => ({ calls: [{ name: 'agent_stop', input: { agent_id: second } }] }),
        (_request, ids) => ({ calls: [...ids.slice(0, 3), 'sa-00000000'].map((id) => agent({ continue: id, prompt: 'more' })) }),
        () => {
          later.give()
          return { text: 'done' }
        },
      ], async () => {
        await later.given
        return { text: 'ok' }
      }),
    })
    await place.cadre.run({ prompt: 'go' })
    expect(told(place).slice(4)).toEqual([
      'Error: <id> cannot be continued: it is still running (use agent_send).',
      'Error: <id> cannot be continued: you stopped it (start a new one).',
      'Error: <id> cannot be continued: it ran a program (start a new one).',
      'Error: No agent <id> was started by you. Yours: <id>, <id>, <id>. Ids come from the "Agent id:" line, not from the type.',
    ])
    expect(began(place)).toHaveLength(3)
  })

  test('the verifier', async () => {
    const place = await lab({
      files: { 'b.txt': 'b\n', 'c.txt': 'c\n' },
      script: led([{ text: 'changed it' }, () => ({ calls: [agent({ continue: began(place)[0] ?? '', prompt: 'more' })] })], () => ({ text: 'All bad.\nVERDICT: FAIL' })),
    })
    await place.cadre.run({ prompt: 'go', changedFiles: () => ['a.txt', 'b.txt', 'c.txt'] })
    expect(startedAs(place, began(place)[0] ?? '')?.title).toBe('Verify changes')
    expect(told(place)).toEqual(['Error: <id> cannot be continued: it is the verifier, which only Cadre starts.'])
  })

  for (const [who, end] of [['the user stopped', 'killed (user)'], ['failed', 'failed (model)'], ['had no turn left', 'partial (max_turns)'], ['ended with its session', 'killed (user)']] as const) {
    test(`one that ${who} is continued`, async () => {
      const later = signal()
      const continues = (_request: ScriptRequest, [id = '']: readonly string[]): Answer => ({ calls: [agent({ continue: id, prompt: 'Go on.', run_in_background: false, ...(who === 'had no turn left' && { max_turns: 5 }) })] })
      const child: Script = async (request) => {
        if (says(request, 'Go on.')) return { text: 'went on' }
        if (who === 'failed') return { status: 400, text: 'no' }
        if (who === 'had no turn left') return { text: 'so far', calls: [{ name: 'ls', input: {} }] }
        await later.given
        return { text: 'late' }
      }
      const place = await lab({ script: led([startsAll([background(1, who === 'had no turn left' ? { max_turns: 1 } : {})]), async (request, ids) => {
        if (who === 'ended with its session') {
          await until(() => ofType(place.events, 'turn.started').some(({ depth }) => depth === 1))
          return { text: 'done' }
        }
        if (who === 'the user stopped') await place.cadre.agents.stop(ids[0] ?? '')
        await until(() => ends(place.events).length === 1)
        return continues(request, ids)
      }, continues, continues, continues, continues], child) })
      if (who !== 'ended with its session') {
        await place.cadre.run({ prompt: 'go' })
        later.give()
        expect(told(place)[1]).toContain('\nStatus: completed\n')
        expect(told(place)[1]).toContain('\nOutput:\nwent on')
        return expect(endOf(place.events, 'part 1')).toMatchObject({ status: end.split(' ')[0] })
      }
      const { session } = await place.cadre.run({ prompt: 'go', onIdle: 'nudge', maxTurns: 2 })
      await place.cadre.close()
      later.give()
      const { cadre, events } = await reopen(place)
      await cadre.resume({ session, prompt: 'and?' })
      expect(endOf(place.events, 'part 1')).toMatchObject({ status: 'killed', cause: 'user' })
      expect(told({ events })[0]).toContain('\nOutput:\nwent on')
    })
  }

  test('ids in texts are those of the agents they are about', async () => {
    const place = await lab({ script: led([startsAll([part(1)]), (_request, [id = '']) => ({ calls: [agent({ continue: id, prompt: 'more' })] })]) })
    await place.cadre.run({ prompt: 'go' })
    const [first = '', second = ''] = began(place)
    const text = ofType(place.events, 'tool.ended').filter(({ depth }) => depth === 0)[1]?.data.outcome.text ?? ''
    expect(text.split('\n')[0]).toBe(`Agent id: ${second} (continued from ${first})`)
    expect(masked(text.split('\n')[0] ?? '')).toBe('Agent id: <id> (continued from <id>)')
  })
})
