import { setTimeout as delay } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import type { CadreEvent } from '../../src/core/events.ts'
import type { JsonObject } from '../../src/core/json.ts'
import { holds, lab, ofType } from '../delegation/lab.ts'
import type { Lab } from '../delegation/lab.ts'
import type { Answer, Script } from '../server/provider-server.ts'
import { agent, background, endOf, ends, led, masked, part, says, signal, told, until } from './lead.ts'
import { reopen } from './reopen.ts'

type Call = NonNullable<Answer['calls']>[number]

const FIXED = { input: 10, output: 5 }

const startsAll = (inputs: readonly JsonObject[]): Answer => ({ calls: inputs.map(agent) })

const idOf = ({ events }: Pick<Lab, 'events'>, title: string): string =>
  [...ofType(events, 'delegation.queued'), ...ofType(events, 'delegation.started')].find(({ data }) => data.title === title)?.agent ?? 'not started'

const rootOf = ({ events }: Pick<Lab, 'events'>): string => ofType(events, 'session.started')[0]?.root ?? ''

/** Turns an agent has begun, by its title. */
const turnsOf = (place: Pick<Lab, 'events'>, title: string): number => ofType(place.events, 'turn.started').filter(({ agent: of }) => of === idOf(place, title)).length

const isOver = (place: Pick<Lab, 'events'>, title: string): boolean => ends(place.events).some((result) => result.title === title)

/** The AGT-05 block, masked. */
const block = ({ title = 'part 1', type = 'explorer', status = 'completed', turns = 1, tools = 0, tokens = 15, lines }: {
  readonly title?: string; readonly type?: string; readonly status?: string; readonly turns?: number; readonly tools?: number; readonly tokens?: number; readonly lines: readonly string[]
}): string => [
  'Agent id: <id>',
  `Sub-agent: ${title} (${type}, openai/gpt-test)`,
  `Status: ${status}`,
  `Turns: ${turns}  Tool calls: ${tools}  Tokens: ${tokens}  Cost: $0.0000  Time: <n> s`,
  ...lines,
].join('\n')

/** What the calls of the agent of this title answered, in order, masked. */
const toldTo = ({ events }: Pick<Lab, 'events'>, id: string): readonly string[] =>
  ofType(events, 'tool.ended').filter((event) => event.agent === id).map(({ data }) => masked(data.outcome.text))

/** What an agent was told by its parent, in the order it read it. */
const messagesTo = ({ cadre }: Pick<Lab, 'cadre'>, id: string): readonly string[] =>
  cadre.journal.transcript(id).flatMap((message) => (message.role === 'user' && message.synthetic === 'message' ? message.text : []))

const LETTER = 'Message from the agent that started you:\n'

/** An agent that may start agents. */
const lead = (title: string): JsonObject => ({ description: title, prompt: title, subagent_type: 'general', tools: ['Agent', 'read'], run_in_background: true })

/** Of three levels: the root run starts `outer`, it starts `inner`, which is held; whoever is asked something else answers it. */
function threeLevels(root: readonly (Answer | (() => Answer | Promise<Answer>))[], outer: Answer | (() => Answer | Promise<Answer>), inner: () => Promise<Answer>): Script {
  return (request) => {
    if (says(request, 'inner') && !holds(request, 'agent')) return inner()
    const isOuter = says(request, 'outer') && !says(request, 'PROMPT OF ROOT')
    const turn = isOuter ? [startsAll([part(0, { description: 'inner', prompt: 'inner', run_in_background: true })]), outer][request.turn - 1] : root[request.turn - 1]
    return (typeof turn === 'function' ? turn() : turn) ?? { text: 'done' }
  }
}

describe('STR-01: only who started an agent may steer it, and the user may at any depth', () => {
  const everyCall = (id: string): readonly Call[] => [
    { name: 'agent_send', input: { agent_id: id, message: 'hello' } },
    { name: 'agent_stop', input: { task_id: id } },
    { name: 'agent_wait', input: { ids: [id] } },
    { name: 'agent_wait', input: { to: id } },
    { name: 'agent_check', input: { action: 'check', id } },
    { name: 'agent_check', input: { action: 'cancel', id } },
    agent({ continue: id, prompt: 'go on' }),
  ]
  const refusal = (id: string, own: string) => `Error: No agent ${id} was started by you. Yours: ${own}. Ids come from the "Agent id:" line, not from the type.`

  test('the root run is refused a grandchild\'s id, and a type\'s name', async () => {
    const later = signal()
    const place = await lab({
      script: threeLevels([startsAll([lead('outer')]), async () => {
        await until(() => turnsOf(place, 'inner') === 1)
        return { calls: [...everyCall(idOf(place, 'inner')), ...everyCall('explorer')] }
      }, () => {
        later.give()
        return { text: 'done' }
      }], { text: 'done' }, async () => {
        await later.given
        return { text: 'ok' }
      }),
    })
    await place.cadre.run({ prompt: 'PROMPT OF ROOT' })
    expect(told(place).slice(1)).toEqual([...everyCall('').map(() => refusal('<id>', '<id>')), ...everyCall('').map(() => refusal('explorer', '<id>'))])
    expect(endOf(place.events, 'inner').status).toBe('completed')
  })

  test('an agent is refused the id of its parent\'s other agents, and of its parent', async () => {
    const later = signal()
    const place = await lab({
      script: threeLevels([startsAll([lead('outer'), part(9, { description: 'sibling', prompt: 'inner sibling', run_in_background: true })])], async () => {
        await until(() => turnsOf(place, 'sibling') === 1)
        later.give()
        return { calls: [...everyCall(idOf(place, 'sibling')).slice(0, 3), ...everyCall(rootOf(place)).slice(0, 3)] }
      }, async () => {
        await later.given
        return { text: 'ok' }
      }),
    })
    await place.cadre.run({ prompt: 'PROMPT OF ROOT' })
    expect(toldTo(place, idOf(place, 'outer')).slice(1)).toEqual(Array.from({ length: 6 }, () => refusal('<id>', '<id>')))
  })

  test('one that started nobody has nobody', async () => {
    const place = await lab({ script: led([{ calls: everyCall('sa-00000000') }]) })
    await place.cadre.run({ prompt: 'go' })
    expect(told(place)).toEqual(everyCall('').map(() => refusal('<id>', 'none')))
  })

  test('the user sends to a grandchild and stops it, and nobody to one that is not there or runs a program', async () => {
    const later = signal()
    const place = await lab({
      script: threeLevels([startsAll([lead('outer')])], { text: 'done' }, async () => {
        await later.given
        return { text: 'ok' }
      }),
    })
    const run = place.cadre.run({ prompt: 'PROMPT OF ROOT' })
    await until(() => turnsOf(place, 'inner') === 1)
    const inner = idOf(place, 'inner')
    await place.cadre.agents.send(inner, 'Look at the tests, too.')
    later.give()
    await until(() => turnsOf(place, 'inner') === 2 || isOver(place, 'inner'))
    await run
    expect(place.cadre.journal.transcript(inner).filter((message) => message.role === 'user').map(({ text }) => text).at(-1)).toBe('Look at the tests, too.')
    await expect(place.cadre.agents.send(inner, 'late')).rejects.toThrow(`No agent ${inner} is running here.`)
    await expect(place.cadre.agents.stop(inner)).rejects.toThrow(`No agent ${inner} is running here.`)
  })
})

describe('STR-02: what an agent is sent is read before its next turn', () => {
  test('sent while it waits in the queue, in order, and it is not cancelled', async () => {
    const first = signal()
    const place = await lab({
      settings: { limits: { maxBackground: 1 } },
      script: led([startsAll([background(1), background(2)]), () => ({ calls: ['one', 'two', 'three'].map((message): Call => ({ name: 'agent_send', input: { to: idOf(place, 'part 2'), message } })) }), () => {
        first.give()
        return { text: 'done' }
      }], async ({ task }) => {
        if (task.includes('part 1')) await first.given
        return { text: 'ok' }
      }),
    })
    await place.cadre.run({ prompt: 'go' })
    const id = idOf(place, 'part 2')
    expect(told(place).slice(2)).toEqual(['one', 'two', 'three'].map(() => 'Sent to <id>; it reads it before its next turn.'))
    const [asked] = place.server.requests.flatMap(({ request }) => (request && says(request, 'part 2') && !holds(request, 'agent') ? request : []))
    expect(asked && ['one', 'two', 'three'].every((text) => says(asked, `${LETTER}${text}`))).toBe(true)
    expect([messagesTo(place, id), endOf(place.events, 'part 2').turns]).toEqual([['one', 'two', 'three'].map((text) => `${LETTER}${text}`), 1])
  })

  test('sent while it runs a tool', async () => {
    const later = signal()
    const place = await lab({
      script(request) {
        if (says(request, 'inner') && !holds(request, 'agent')) return later.given.then(() => ({ text: 'ok' }))
        if (says(request, 'PROMPT OF ROOT')) {
          if (request.turn === 1) return startsAll([lead('outer')])
          if (request.turn > 2) return { text: 'done' }
          return until(() => turnsOf(place, 'inner') === 1).then(() => ({ calls: [{ name: 'agent_send', input: { agent_id: idOf(place, 'outer'), message: 'hurry' } }] }))
        }
        if (request.turn === 1) return startsAll([part(0, { description: 'inner', prompt: 'inner' })])
        return { text: says(request, `${LETTER}hurry`) ? 'hurried' : 'not told' }
      },
    })
    const run = place.cadre.run({ prompt: 'PROMPT OF ROOT' })
    await until(() => ofType(place.events, 'message.sent').length === 1)
    later.give()
    await run
    expect([endOf(place.events, 'outer').output, endOf(place.events, 'outer').turns]).toEqual(['hurried', 2])
  })

  test('sent while it is about to give its last answer: it has one more turn', async () => {
    const later = signal()
    const place = await lab({
      script: led([startsAll([background(1)]), async (_request, [id = '']) => {
        await until(() => turnsOf(place, 'part 1') === 1)
        return { calls: [{ name: 'agent_send', input: { agent_id: id, message: 'and b' } }] }
      }, () => {
        later.give()
        return { text: 'done' }
      }], async ({ turn }) => {
        await later.given
        return { text: turn === 1 ? 'a' : 'a and b' }
      }),
    })
    await place.cadre.run({ prompt: 'go' })
    expect(endOf(place.events, 'part 1')).toMatchObject({ output: 'a and b', turns: 2, undelivered: [] })
  })

  test('whenever it comes while an agent ends: it was sent and is read, or refused, never sent and not read', async () => {
    const COUNT = 24
    let sent = 0
    for (let round = 0; round < 4; round += 1) {
      const go = signal()
      const place = await lab({
        settings: { limits: { maxRunning: COUNT, maxBackground: COUNT } },
        script: led([startsAll(Array.from({ length: COUNT }, (_, i) => background(i))), async (_request, ids) => {
          await until(() => ofType(place.events, 'turn.started').length >= COUNT + 2)
          go.give()
          await delay(round * 4)
          return { calls: ids.map((id) => ({ name: 'agent_send', input: { agent_id: id, message: `to ${id}` } })) }
        }], async ({ task }) => {
          await go.given
          await delay(Number(/part (\d+)/.exec(task)?.[1] ?? 0) % 12)
          return { text: 'ok' }
        }),
      })
      await place.cadre.run({ prompt: 'go' })
      const answers = ofType(place.events, 'tool.ended').filter(({ depth, data }) => depth === 0 && data.outcome.tool === 'agent_send').map(({ data }) => data.outcome.text)
      expect(answers).toHaveLength(COUNT)
      for (const text of answers) {
        const id = /sa-\w{8}/.exec(text)?.[0] ?? ''
        const read = messagesTo(place, id).length === 1
        expect(text).toBe(read ? `Sent to ${id}; it reads it before its next turn.` : `Error: ${id} has already ended (completed). To go on with it: agent({continue: "${id}", prompt: …}).`)
        if (read) sent += 1
      }
      expect(ends(place.events).map(({ undelivered }) => undelivered)).toEqual(Array.from({ length: COUNT }, () => []))
      await place.cadre.close()
    }
    expect(sent).toBeGreaterThan(0)
  })

  test('a program is sent nothing, and a blank message is none', async () => {
    const PROGRAM = '---\nname: waits\ndescription: waits\nmodel: script\ntools: Read\n---\n```js\nawait tools.read({ path: \'a.txt\' })\nfor (;;) await tools.read({ path: \'a.txt\' })\n```\n'
    const place = await lab({
      files: { '.cadre/agents/waits.md': PROGRAM },
      script: led([startsAll([background(1, { subagent_type: 'waits' })]), async (_request, [id = '']) => {
        await until(() => turnsOf(place, 'part 1') > 0)
        await expect(place.cadre.agents.send(id, 'hello')).rejects.toThrow(`${id} runs a program, which reads no messages.`)
        return { calls: [{ name: 'agent_send', input: { agent_id: id, message: 'hello' } }, { name: 'agent_send', input: { agent_id: id, message: '  ' } }, { name: 'agent_send', input: { message: 'hello' } }, { name: 'agent_stop', input: { agent_id: id } }] }
      }]),
    })
    await place.cadre.run({ prompt: 'go' })
    expect(told(place).slice(1, 4)).toEqual([
      'Error: <id> runs a program, which reads no messages. Wait for it, or end it with agent_stop.', 'Error: message is required', 'Error: agent_id is required',
    ])
    expect(endOf(place.events, 'part 1').status).toBe('killed')
  })
})

describe('STR-03: messages that come too late', () => {
  test('to an ended agent, with how it ended and how to go on with it', async () => {
    const place = await lab({
      script: led([startsAll([part(1), part(2), part(3, { max_turns: 1 })]), (_request, ids) => ({ calls: ids.map((id) => ({ name: 'agent_send', input: { agent_id: id, message: 'hello' } })) })],
        (request) => says(request, 'part 2') ? { status: 400, text: 'no' } : says(request, 'part 3') ? { calls: [{ name: 'ls', input: {} }] } : { text: 'ok' }),
    })
    await place.cadre.run({ prompt: 'go' })
    expect(told(place).slice(3)).toEqual(['completed', 'failed (model)', 'partial (max_turns)'].map((how) =>
      `Error: <id> has already ended (${how}). To go on with it: agent({continue: "<id>", prompt: …}).`))
  })

  for (const inBackground of [true, false]) {
    test(`never read, they are in its result, word for word: ${inBackground ? 'told in a notice' : 'told by agent_wait'}`, async () => {
      const later = signal()
      const place = await lab({
        script: led([startsAll([background(1, { max_turns: 1 })]), async (_request, [id = '']) => {
          await until(() => turnsOf(place, 'part 1') === 1)
          return { calls: ['hello', 'and a message that is longer than the sixty characters that a line of a listing has'].map((message) => ({ name: 'agent_send', input: { agent_id: id, message } })) }
        }, () => {
          later.give()
          return inBackground ? { text: 'done' } : { calls: [{ name: 'agent_wait', input: {} }] }
        }], async () => {
          await later.given
          return { text: 'ok', usage: FIXED }
        }),
      })
      const { agentId } = await place.cadre.run({ prompt: 'go' })
      const whole = block({ lines: ['2 message(s) you sent were not delivered, it finished first:', '- hello', '- and a message that is longer than the sixty characters that ', 'Output:', 'ok'] })
      const heard = inBackground ? ofType(place.events, 'notification').map(({ data }) => masked(data.text)).join('\n') : told(place).at(-1)
      expect(heard).toContain(whole)
      expect(place.cadre.journal.result(idOf(place, 'part 1'))?.undelivered).toEqual(['hello', 'and a message that is longer than the sixty characters that a line of a listing has'])
      expect(place.cadre.journal.undelivered(agentId)).toEqual([])
    })
  }

  test('what the user sent is not told as the parent\'s', async () => {
    const later = signal()
    const place = await lab({ script: led([startsAll([background(1, { max_turns: 1 })])], async () => {
      await later.given
      return { text: 'ok', usage: FIXED }
    }) })
    const run = place.cadre.run({ prompt: 'go' })
    await until(() => turnsOf(place, 'part 1') === 1)
    await place.cadre.agents.send(idOf(place, 'part 1'), 'from the user')
    later.give()
    await run
    expect(ofType(place.events, 'notification').map(({ data }) => masked(data.text)).join('\n')).toContain(block({ lines: ['Output:', 'ok'] }))
  })
})

describe('STR-04: agent_stop ends an agent for good', () => {
  const REGEX = { name: 'grep', input: { pattern: '(a+)+$', path: 'long.txt' } }
  type Row = { readonly title: string; readonly inputs?: readonly JsonObject[]; readonly settings?: JsonObject; readonly of?: string; readonly when: (place: Lab) => boolean; readonly child: (later: Promise<void>) => Script; readonly last: string }
  const rows: readonly Row[] = [
    { title: 'while its model is asked', when: (place) => turnsOf(place, 'part 1') === 1, child: (later) => () => later.then(() => ({ text: 'late' })), last: 'It had not done anything yet.' },
    {
      title: 'with what it said last, 2,000 characters of it', when: (place) => turnsOf(place, 'part 1') === 2, last: 'x'.repeat(1999),
      child: (later) => ({ turn }) => turn === 1 ? { text: `${'x'.repeat(1999)}\u{1F600}${'y'.repeat(100)}`, calls: [{ name: 'ls', input: {} }] } : later.then(() => ({ text: 'late' })),
    },
    { title: 'in the queue', inputs: [background(2), background(1)], settings: { maxBackground: 1 }, when: (place) => turnsOf(place, 'part 2') === 1, child: (later) => () => later.then(() => ({ text: 'late' })), last: 'It had not done anything yet.' },
    { title: 'as soon as it was started', when: () => true, child: (later) => () => later.then(() => ({ text: 'late' })), last: 'It had not done anything yet.' },
    {
      title: 'in a regular expression that never ends', when: (place) => ofType(place.events, 'tool.started').some(({ data }) => data.call.name === 'grep'), last: 'on my way',
      child: () => ({ turn }) => turn === 1 ? { text: 'on my way', calls: [REGEX] } : { text: 'late' },
    },
  ]
  for (const { title, inputs = [background(1)], settings, when, child, last } of rows) {
    test(title, async () => {
      const later = signal()
      const place = await lab({
        files: { 'long.txt': `${'a'.repeat(64)}!\n` },
        settings: { limits: { ...settings } },
        script: led([startsAll(inputs), async () => {
          await until(() => when(place))
          return { calls: [{ name: 'agent_stop', input: { agent_id: idOf(place, 'part 1') } }] }
        }, () => {
          later.give()
          const id = idOf(place, 'part 1')
          return { calls: [{ name: 'agent_send', input: { to: id, message: 'hello' } }, { name: 'agent_stop', input: { to: id } }, agent({ continue: id, prompt: 'go on' }), { name: 'agent_check', input: {} }] }
        }], child(later.given)),
      })
      const { agentId, session, status } = await place.cadre.run({ prompt: 'go' })
      const id = idOf(place, 'part 1')
      const answers = told(place).slice(inputs.length)
      expect([status, answers[0]]).toEqual(['completed', `Stopped <id> (part 1). No task notification will follow.\n${last}`])
      expect(answers.slice(1, 4)).toEqual([
        'Error: <id> has already ended (killed (parent)). To go on with it: agent({continue: "<id>", prompt: …}).',
        `Stopped <id> (part 1). No task notification will follow.\n${last}`,
        'Error: <id> cannot be continued: you stopped it (start a new one).',
      ])
      expect(answers[4]).toMatch(/<id> part 1 killed turn \d+\/50 \d+ s/)
      expect(endOf(place.events, 'part 1')).toMatchObject({ status: 'killed', cause: 'parent', error: 'The agent that started it stopped it.' })
      // Nothing restarts it, no notice follows, also in a later process.
      await place.cadre.close()
      const asked = place.server.requests.length
      const { cadre, events } = await reopen(place)
      await cadre.resume({ session, prompt: 'and?' })
      expect([...place.events, ...events].filter((event) => event.agent === id && event.type === 'delegation.ended')).toHaveLength(1)
      expect(ofType([...place.events, ...events], 'notification').filter(({ data }) => data.of === id)).toEqual([])
      expect([place.server.requests.length - asked, cadre.journal.undelivered(agentId)]).toEqual([1, []])
    })
  }

  test('blocked on agents of its own: they end first', async () => {
    const later = signal()
    const place = await lab({
      script: threeLevels([startsAll([lead('outer')]), async () => {
        await until(() => turnsOf(place, 'inner') === 1)
        return { calls: [{ name: 'agent_stop', input: { agent_id: idOf(place, 'outer') } }] }
      }], { calls: [{ name: 'agent_wait', input: {} }] }, async () => {
        await later.given
        return { text: 'late' }
      }),
    })
    const { status } = await place.cadre.run({ prompt: 'PROMPT OF ROOT' })
    later.give()
    expect([status, told(place)[1]]).toEqual(['completed', 'Stopped <id> (outer). No task notification will follow.\nIt had not done anything yet.'])
    expect(ends(place.events).map(({ title, status: end, cause, error }) => [title, end, cause, error])).toEqual([
      ['inner', 'killed', 'parent', 'The agent that started it ended.'],
      ['outer', 'killed', 'parent', 'The agent that started it stopped it.'],
    ])
  })

  test('it is shown as killed at once, before its end is journaled', async () => {
    const place = await lab({
      files: { 'long.txt': `${'a'.repeat(64)}!\n` },
      script: led([startsAll([background(1)]), async (_request, [id = '']) => {
        await until(() => ofType(place.events, 'tool.started').some(({ data }) => data.call.name === 'grep'))
        return { calls: [{ name: 'agent_stop', input: { agent_id: id } }, { name: 'agent_check', input: {} }] }
      }], () => ({ calls: [REGEX] })),
    })
    await place.cadre.run({ prompt: 'go' })
    expect(told(place)[2]).toMatch(/^<id> part 1 killed turn 1\/50 \d+ s$/)
  })
})

describe('STR-05: a user\'s stop is told to the parent', () => {
  for (const inBackground of [false, true]) {
    test(inBackground ? 'in a notice' : 'as the result of its call', async () => {
      const later = signal()
      const place = await lab({ script: led([startsAll([part(1, { run_in_background: inBackground })])], async () => {
        await later.given
        return { text: 'late' }
      }) })
      const run = place.cadre.run({ prompt: 'go' })
      await until(() => turnsOf(place, 'part 1') === 1)
      await place.cadre.agents.stop(idOf(place, 'part 1'))
      later.give()
      const { status } = await run
      const whole = block({ status: 'killed (user)', tokens: 0, lines: ['Reason: The user stopped it.', 'Output:', 'It had not done anything yet.'] })
      const heard = inBackground ? ofType(place.events, 'notification').map(({ data }) => masked(data.text)).join('\n') : (told(place)[0] ?? '')
      expect(status).toBe('completed')
      if (inBackground) expect(heard).toContain(`<result>\n${whole}\n</result>`)
      else expect(heard).toBe(whole)
    })
  }
})

describe('STR-06: agent_wait blocks without asking a model', () => {
  const waits = (input: JsonObject): Answer => ({ calls: [{ name: 'agent_wait', input }] })
  const done = (n: number) => block({ title: `part ${n}`, lines: ['Output:', `saw Look at part ${n}.`] })

  /** Children that answer when their number was let go. */
  function gated() {
    const gates = new Map([1, 2, 3].map((n) => [n, signal()]))
    const child: Script = async ({ task }) => {
      await gates.get(Number(/part (\d)/.exec(task)?.[1]))?.given
      return { text: `saw ${task}`, usage: FIXED }
    }
    return { child, letGo: (...which: readonly number[]) => { for (const n of which) gates.get(n)?.give() } }
  }

  test('for all that run, without ids', async () => {
    const { child, letGo } = gated()
    const place = await lab({ script: led([startsAll([background(1), background(2)]), () => {
      letGo(1, 2)
      return waits({})
    }], child) })
    const { turns } = await place.cadre.run({ prompt: 'go' })
    expect(turns).toBe(3)
    expect(told(place)[2]?.split('\n\n').toSorted()).toEqual([done(1), done(2)])
  })

  test('for any, with the rest as they stand, by ids, one of them ended before', async () => {
    const { child, letGo } = gated()
    const place = await lab({ script: led([startsAll([background(1), background(2), part(3)]), async () => {
      await until(() => turnsOf(place, 'part 1') + turnsOf(place, 'part 2') === 2)
      return waits({ ids: [1, 2, 3].map((n) => idOf(place, `part ${n}`)), for: 'any' })
    }, () => {
      letGo(1)
      return waits({ ids: [1, 2].map((n) => idOf(place, `part ${n}`)), for: 'any' })
    }, () => {
      letGo(2)
      return waits({ for: 'any' })
    }], child) })
    letGo(3)
    await place.cadre.run({ prompt: 'go' })
    const still = (n: number) => `Still running: part ${n} (<id>), turn 1 of 50`
    expect(told(place).slice(3)).toEqual([`${done(3)}\n\n${still(1)}\n${still(2)}`, `${done(1)}\n\n${still(2)}`, done(2)])
  })

  test('until its time is over', async () => {
    const { child, letGo } = gated()
    const place = await lab({ script: led([startsAll([background(1)]), async () => {
      await until(() => turnsOf(place, 'part 1') === 1)
      return waits({ timeout: 0.05 })
    }, () => {
      letGo(1)
      return waits({ timeout: 1e9 })
    }], child) })
    await place.cadre.run({ prompt: 'go' })
    expect(told(place).slice(1)).toEqual(['Still running: part 1 (<id>), turn 1 of 50', done(1)])
  })

  test('until limits.wait is over, when it names no time', async () => {
    const { child, letGo } = gated()
    const place = await lab({ settings: { limits: { wait: 1 } }, script: led([startsAll([background(1)]), async () => {
      await until(() => turnsOf(place, 'part 1') === 1)
      return waits({})
    }, () => {
      letGo(1)
      return { text: 'done' }
    }], child) })
    await place.cadre.run({ prompt: 'go' })
    expect(told(place)[1]).toBe('Still running: part 1 (<id>), turn 1 of 50')
  })

  test('until the user says something, which it then reads', async () => {
    const { child, letGo } = gated()
    const place = await lab({ script: led([startsAll([background(1), background(2)]), async () => {
      letGo(1)
      await until(() => isOver(place, 'part 1') && turnsOf(place, 'part 2') === 1)
      return waits({})
    }, (request) => {
      letGo(2)
      return { text: says(request, 'Stop waiting.') ? 'heard' : 'not heard' }
    }, (request) => ({ text: says(request, 'Stop waiting.') ? 'heard' : 'not heard' })], child) })
    const run = place.cadre.run({ prompt: 'go' })
    await until(() => ofType(place.events, 'tool.started').some(({ data }) => data.call.name === 'agent_wait'))
    await place.cadre.agents.send(rootOf(place), 'Stop waiting.')
    expect((await run).output).toBe('heard')
    expect(told(place)[2]).toBe(`${done(1)}\n\nStill running: part 2 (<id>), turn 1 of 50`)
  })

  test('with nobody in the background: at once', async () => {
    const place = await lab({ script: led([startsAll([part(1)]), waits({}), waits({ ids: '' })], () => ({ text: 'ok' })) })
    await place.cadre.run({ prompt: 'go' })
    expect(told(place).slice(1)).toEqual(['None of your sub-agents runs in the background.', 'None of your sub-agents runs in the background.'])
  })
})

describe('STR-07: agent_check', () => {
  const seconds = (text: string) => text.replaceAll(/(?<!\.)\b\d+ s\b/g, '<s> s')
  const heard = (place: Lab, from: number) => told(place).slice(from).map(seconds)
  const check = (input: JsonObject): Call => ({ name: 'agent_check', input })

  test('list: a line for each, whatever it is doing', async () => {
    const later = signal()
    const place = await lab({
      settings: { limits: { maxBackground: 1 } },
      script(request) {
        const { task, turn } = request
        if (says(request, 'PROMPT OF ROOT')) {
          if (turn === 1) return { calls: [check({ action: 'list' })] }
          if (turn === 2) return startsAll([part(1), lead('outer'), background(2), background(3, { name: 'the third' })])
          if (turn > 3) {
            later.give()
            return { text: 'done' }
          }
          return until(() => turnsOf(place, 'inner') === 1 && turnsOf(place, 'part 2') === 2).then(() => ({ calls: [check({ action: 'list' }), check({})] }))
        }
        if (says(request, 'outer')) return turn === 1 ? startsAll([part(0, { description: 'inner', prompt: 'inner' })]) : { text: 'done' }
        if (task.includes('part 1')) return { text: 'ok' }
        if (task.includes('part 2') && turn === 1) return { calls: [{ name: 'ls', input: {} }] }
        return later.given.then(() => ({ text: 'ok' }))
      },
    })
    await place.cadre.run({ prompt: 'PROMPT OF ROOT' })
    // One that waits lends its place: of two in the queue the first has it.
    const list = ['<id> part 1 completed turn 1/50 <s> s', '<id> outer waiting turn 1/50 <s> s', '<id> part 2 running turn 2/50 <s> s', '<id> the third queued turn 0/50 <s> s'].toSorted()
    const answers = heard(place, 0)
    expect([answers[0], ...answers.slice(5).map((text) => text.split('\n').toSorted())]).toEqual(['You have started no sub-agents.', list, list])
  })

  test('check: its whole text, with its last 20 calls', async () => {
    const later = signal()
    const long = 'é'.repeat(300)
    const place = await lab({
      files: { 'b.txt': `${long}\n`, 'long.txt': `${'a'.repeat(64)}!\n` },
      script: led([startsAll([background(1, { expected_duration: 0.1 }), background(2)]), async (_request, ids) => {
        await until(() => turnsOf(place, 'part 1') === 3 && turnsOf(place, 'part 2') === 1)
        await delay(700)
        return { calls: ids.map((id) => check({ action: 'check', id })) }
      }, () => {
        later.give()
        return { text: 'done' }
      }], async ({ task, turn }) => {
        if (task.includes('part 2')) return later.given.then(() => ({ text: 'ok' }))
        if (turn === 1) return { text: 'first', calls: Array.from({ length: 21 }, (_, i) => ({ name: 'read', input: { path: 'a.txt', limit: i + 1 } })) }
        if (turn === 2) return { text: 'second', calls: [{ name: 'read', input: { path: 'b.txt', limit: 1 } }, { name: 'glob', input: { pattern: 'p'.repeat(200) } }] }
        await later.given
        return { text: 'ok' }
      }),
    })
    await place.cadre.run({ prompt: 'go' })
    const [first = '', second = ''] = heard(place, 2)
    const lines = first.split('\n')
    expect(lines.slice(0, 5)).toEqual([
      'Sub-agent: part 1 (explorer)',
      'Status: running (turn 3/50)',
      'Started: <s> s ago  Last active: <s> s ago',
      'Expected: 0.1 s (overdue by <s> s)',
      'Last tool calls:',
    ])
    const calls = lines.slice(5, -1)
    expect(calls).toHaveLength(20)
    expect(calls[0]).toMatch(/^- read \{"path":"a.txt","limit":4\} → .*alpha .*beta/)
    expect(calls[18]).toMatch(/^- read \{"path":"b.txt","limit":1\} → .{100}…$/u)
    expect(calls[19]).toMatch(/^- glob \{"pattern":"p{88}… → /)
    expect(lines.at(-1)).toBe('Files written: none')
    expect(second).toBe(['Sub-agent: part 2 (explorer)', 'Status: running (turn 1/50)', 'Started: <s> s ago  Last active: <s> s ago', 'No tool calls yet.', 'Files written: none'].join('\n'))
  })

  test('cancel is agent_stop, and without an id there is nobody to look at', async () => {
    const later = signal()
    const place = await lab({ script: led([startsAll([background(1)]), (_request, [id = '']) => ({ calls: [check({ action: 'cancel', task_id: id }), check({ action: 'check' }), check({ action: 'cancel' })] }), () => {
      later.give()
      return { text: 'done' }
    }], async () => {
      await later.given
      return { text: 'late' }
    }) })
    await place.cadre.run({ prompt: 'go' })
    expect(told(place).slice(1)).toEqual(['Stopped <id> (part 1). No task notification will follow.\nIt had not done anything yet.', 'Error: id is required', 'Error: id is required'])
  })

  test('an ended agent\'s output is read page by page, and the pages are the whole', async () => {
    const whole = Array.from({ length: 9_000 }, (_, i) => `\u{1F600}${i}`).join('')
    const pages: string[] = []
    const place = await lab({
      script: led([startsAll([part(1)]), ...Array.from({ length: 4 }, () => ({ toolResults }: { readonly toolResults: readonly { readonly text: string }[] }, ids: readonly string[]): Answer => {
        const text = toolResults[0]?.text ?? ''
        const next = /offset=(\d+)\]/.exec(text)?.[1]
        return next === undefined ? { text: 'done' } : { calls: [check({ id: ids[0] ?? '', offset: Number(next) })] }
      })], () => ({ text: whole })),
    })
    await place.cadre.run({ prompt: 'go' })
    const results: readonly CadreEvent[] = place.events
    for (const { data } of ofType(results, 'tool.ended').filter(({ depth }) => depth === 0)) pages.push(data.outcome.text)
    const [first = '', ...rest] = pages
    const head = first.slice(first.indexOf('Output:\n') + 8, first.indexOf('\n[… '))
    expect(head + rest.map((page) => page.slice(page.indexOf(':\n') + 2).replace(/\n\[… \d+ more characters: agent_check id=sa-\w{8} offset=\d+\]$/, '')).join('')).toBe(whole)
    expect(rest.length).toBeGreaterThan(1)
  })
})
