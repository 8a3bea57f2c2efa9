import { execFileSync } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { holds, lab, ofType } from '../delegation/lab.ts'
import type { Lab } from '../delegation/lab.ts'
import type { Answer, Script, ScriptRequest, Wire } from '../server/provider-server.ts'
import { agent, background, endOf, ends, led, part, says, signal, told, until } from './lead.ts'

const WIRES: readonly Wire[] = ['openai', 'anthropic']
const DEPTH = 'You cannot delegate further: do this work yourself.'
const LAST_TURN = 'This is your last turn: answer now with what you have.'
const REPEATED = 'ls gave the same result 3 times. Try another way or report what blocks you.'
const NOTICE = 'Its result arrives as a task notification: do not poll. Steer it with agent_send, end it with agent_stop.'

const type = (name: string, fields: string) => ({ [`.cadre/agents/${name}.md`]: `---\nname: ${name}\ndescription: d\n${fields}\n---\nYou are ${name}.\n` })
const isRoot = (request: ScriptRequest): boolean => holds(request, 'blame')
const is = (request: ScriptRequest, name: string): boolean => request.system.includes(`You are ${name}.`)
const children = ({ events }: Pick<Lab, 'events'>, of: 'delegation.started' | 'delegation.queued' | 'turn.started') => ofType(events, of).filter(({ depth }) => depth > 0)

describe('KIN-01: foreground and background', () => {
  test('a parent\'s turn waits for a foreground child, also with run_in_background false', async () => {
    const { cadre, events } = await lab({ script: led([{ calls: [agent(part(1)), agent(part(2, { run_in_background: false }))] }]) })
    await cadre.run({ prompt: 'go' })
    const order = events.flatMap(({ type: what, depth, data }) => (depth === 1 && what === 'delegation.ended' ? ['child ended'] : depth === 0 && what === 'turn.started' ? [`turn ${'turn' in data ? data.turn : ''}`] : []))
    expect(order).toEqual(['turn 1', 'child ended', 'child ended', 'turn 2'])
  })

  test('a background call returns at once; a type that says background does so even over false', async () => {
    const release = signal()
    const { cadre, events } = await lab({
      files: type('slow', 'tools: Read\nbackground: true'),
      script: led([{ calls: [agent(background(1)), agent(part(2, { subagent_type: 'slow', run_in_background: false })), agent(part(3, { subagent_type: 'slow' }))] }, () => {
        expect(ends(events)).toEqual([])
        release.give()
        return { text: 'done' }
      }], async () => {
        await release.given
        return { text: 'ok' }
      }),
    })
    expect(await cadre.run({ prompt: 'go' })).toMatchObject({ status: 'completed' })
    expect(told({ events })).toEqual([1, 2, 3].map((n) => `Started in the background as <id> (part ${n}). ${NOTICE}`))
    expect(ends(events)).toHaveLength(3)
  })
})

test('KIN-03: sixteen readers of one reply, in the foreground and in the background, wait for nobody', async () => {
  const all = signal()
  let asked = 0
  const { cadre, events } = await lab({
    script: led([{ calls: Array.from({ length: 16 }, (_, i) => agent(i % 2 === 0 ? part(i) : background(i))) }], async () => {
      asked += 1
      if (asked === 16) all.give()
      await all.given // none is answered before all have asked
      return { text: 'ok' }
    }),
  })
  await cadre.run({ prompt: 'go' })
  expect(ends(events).map(({ status }) => status)).toEqual(Array(16).fill('completed'))
  expect(ofType(events, 'delegation.queued')).toEqual([])
})

describe('KIN-05: whoever is blocked on its children lends them its place', () => {
  const ways: Readonly<Record<string, NonNullable<Answer['calls']>>> = {
    'on a foreground child': [agent(part(2))],
    'on several': [agent(part(2)), agent(part(3)), agent(part(4))],
    'in agent_wait': [agent(background(2)), { name: 'agent_wait', input: {} }],
    'with nothing left to do': [agent(background(2)), agent(background(3))],
  }
  for (const [how, steps] of Object.entries(ways)) {
    test(`${how}: a family of two levels ends with one running place`, async () => {
      const { cadre, events } = await lab({
        settings: { limits: { maxRunning: 1, maxBackground: 1 } },
        files: type('lead', 'tools: Read, Agent'),
        script: (request) => {
          if (isRoot(request)) return request.turn === 1 ? { calls: [agent(background(1, { subagent_type: 'lead' }))] } : { text: 'done' }
          if (!is(request, 'lead')) return { text: 'leaf' }
          const calls = how === 'in agent_wait' ? steps.slice(request.turn - 1, request.turn) : request.turn === 1 ? steps : []
          return calls.length > 0 ? { calls } : { text: 'led' }
        },
      })
      expect(await cadre.run({ prompt: 'go' })).toMatchObject({ status: 'completed' })
      expect(ends(events).map(({ status }) => status)).toEqual(Array(ends(events).length).fill('completed'))
      expect(ends(events).at(-1)).toMatchObject({ title: 'part 1', output: 'led' })
      expect(ends(events)).toHaveLength(1 + steps.filter(({ name }) => name === 'agent').length)
    })
  }
})

describe('KIN-06: the depth limit', () => {
  for (const wire of WIRES) {
    test(`below it a lead has the tool; at it the tool is absent, the prompt says so, and a forced call gets the same text (${wire})`, async () => {
      const { cadre, events, server } = await lab({
        wire,
        files: type('lead', 'tools: Read, Agent'),
        script: (request) => {
          if (request.turn > 1) return { text: request.toolResults.map(({ text }) => text).join('\n') }
          return { calls: [agent(part(1, { subagent_type: 'lead' }))] }
        },
      })
      const { session } = await cadre.run({ prompt: 'go' })
      const [root, lead, leaf] = server.requests.flatMap(({ request }) => (request?.turn === 1 ? [request] : []))
      expect([root, lead, leaf].map((request) => request !== undefined && holds(request, 'agent'))).toEqual([true, true, false])
      expect([root, lead, leaf].map((request) => request?.system.endsWith(`\n\n${DEPTH}`))).toEqual([false, false, true])
      expect(ends(events)[0]).toMatchObject({ status: 'completed', output: `Error: ${DEPTH}` })
      expect(ofType(events, 'tool.ended').find(({ depth }) => depth === 2)?.data.outcome).toMatchObject({ ok: false, tool: 'agent' })
      expect(ofType(events, 'delegation.refused').map(({ depth, data }) => [depth, data.reason])).toEqual([[2, DEPTH]])
      expect(cadre.journal.agents(session)).toHaveLength(3)
    })
  }
})

describe('KIN-07: so many run, so many in the background, so many wait', () => {
  test('each limit holds, order is kept, one that fits passes, and beyond the queue the text says how things stand', async () => {
    const release = signal()
    const place = await lab({
      settings: { limits: { maxRunning: 3, maxBackground: 2, maxQueued: 2 } },
      script: led([{ calls: [1, 2, 3, 4, 5].map((n) => agent(background(n))) }, { calls: [agent(part(6))] }, { calls: [agent(background(7))] }, () => {
        release.give()
        return { text: 'done' }
      }], async (request) => {
        if (!says(request, 'Look at part 6.')) await release.given
        return { text: 'ok' }
      }),
    })
    const { cadre, events } = place
    await cadre.run({ prompt: 'go' })
    const answers = told({ events })
    const full = 'Error: The queue is full (2 running, 2 queued). Wait for some with agent_wait, then try again.'
    expect(answers.map((text) => (text.startsWith('Agent id') ? 'a result' : text))).toEqual([
      `Started in the background as <id> (part 1). ${NOTICE}`,
      `Started in the background as <id> (part 2). ${NOTICE}`,
      `Queued in the background as <id> (part 3). 0 ahead. ${NOTICE}`,
      `Queued in the background as <id> (part 4). 1 ahead. ${NOTICE}`,
      full,
      'a result',
      full,
    ])
    expect(children(place, 'delegation.started').map(({ data }) => ('title' in data ? data.title : ''))).toEqual(['part 1', 'part 2', 'part 6', 'part 3', 'part 4'])
    expect(ends(events).map(({ status }) => status)).toEqual(Array(5).fill('completed'))
  })

  test('one that is stopped in the queue never runs, and those behind it move up', async () => {
    const release = signal()
    const place = await lab({
      settings: { limits: { maxRunning: 1 } },
      script: led([
        { calls: [1, 2, 3].map((n) => agent(background(n))) },
        (_request, ids) => ({ calls: [{ name: 'agent_stop', input: { agent_id: ids[1] ?? '' } }] }),
        { calls: [agent(background(4))] },
        () => {
          release.give()
          return { text: 'done' }
        },
      ], async () => {
        await release.given
        return { text: 'ok' }
      }),
    })
    await place.cadre.run({ prompt: 'go' })
    expect(told(place).slice(3)).toEqual([
      'Stopped <id> (part 2). No task notification will follow.\nIt had not done anything yet.',
      `Queued in the background as <id> (part 4). 1 ahead. ${NOTICE}`,
    ])
    expect(children(place, 'turn.started')).toHaveLength(3)
    expect(endOf(place.events, 'part 2')).toMatchObject({ status: 'killed', cause: 'parent', turns: 0, output: 'It had not done anything yet.' })
  })
})

describe('KIN-08: launch pacing', () => {
  test('more starts than a second may have are delayed, not refused, though places are free', async () => {
    const { cadre, events } = await lab({ settings: { limits: { launchPerSecond: 3 } }, script: led([{ calls: [1, 2, 3, 4, 5].map((n) => agent(n % 2 === 0 ? background(n) : part(n))) }]) })
    await cadre.run({ prompt: 'go' })
    expect(ends(events).map(({ status }) => status)).toEqual(Array(5).fill('completed'))
    expect(ofType(events, 'delegation.queued').map(({ data }) => [data.title, data.ahead])).toEqual([['part 4', 0], ['part 5', 1]])
    expect(ofType(events, 'delegation.refused')).toEqual([])
  })

  test('what a program starts is not paced', async () => {
    const { cadre, events } = await lab({
      orchestrator: { trusted: true },
      settings: { model: 'openai/gpt-test', limits: { launchPerSecond: 1 } },
      files: { '.cadre/agents/many.md': '---\nname: many\ndescription: d\nmodel: script\ntools: Read, Agent\n---\n```js\nconst all = await Promise.all([1, 2, 3, 4, 5].map((n) => tools.agent({ description: `part ${n}`, prompt: "x", subagent_type: "explorer" })))\nreturn all.length\n```\n' },
    })
    expect(await cadre.run({ prompt: '', agent: 'many' })).toMatchObject({ status: 'completed', value: 5 })
    expect(ofType(events, 'delegation.queued')).toEqual([])
    expect(ends(events).map(({ status }) => status)).toEqual(Array(5).fill('completed'))
  })
})

describe('KIN-11, KIN-12: turn and time limits', () => {
  test('the lower of call and type, else what the settings say', async () => {
    const { cadre, events } = await lab({
      settings: { limits: { maxTurns: 9, timeout: 90 } },
      files: { ...type('bound', 'tools: Read\nmaxTurns: 5\ntimeout: 50'), ...type('free', 'tools: Read') },
      script: led([{ calls: [
        ...[{}, { max_turns: 3, timeout: 30 }, { max_turns: 7, timeout: 70 }].map((more) => agent(part(1, { subagent_type: 'bound', ...more }))),
        ...[{}, { max_turns: 3, timeout: 30 }, { max_turns: 70, timeout: 700 }].map((more) => agent(part(2, { subagent_type: 'free', ...more }))),
      ] }]),
    })
    await cadre.run({ prompt: 'go' })
    const limits = ofType(events, 'delegation.started').filter(({ depth }) => depth === 1).map(({ data }) => [data.agentType, data.grant.limits.maxTurns, data.grant.limits.timeout])
    expect(limits).toEqual([['bound', 5, 50], ['bound', 3, 30], ['bound', 5, 50], ['free', 9, 90], ['free', 3, 30], ['free', 70, 700]])
  })

  for (const wire of WIRES) {
    test(`the last allowed turn is told so, and no other; one that answers then has completed (${wire})`, async () => {
      const seen: (readonly [number, boolean])[] = []
      const { cadre, events } = await lab({
        wire,
        script: led([{ calls: [agent(part(1, { max_turns: 3 }))] }, { calls: [agent(part(2, { max_turns: 1 }))] }], (request) => {
          seen.push([request.turn, request.lastUserText.endsWith(LAST_TURN)])
          return request.turn < 3 && says(request, 'part 1') ? { text: 'looking', calls: [{ name: 'ls', input: {} }] } : { text: 'what I have' }
        }),
      })
      await cadre.run({ prompt: 'go' })
      expect(seen).toEqual([[1, false], [2, false], [3, true], [1, true]])
      expect(ends(events).map(({ status, output }) => [status, output])).toEqual([['completed', 'what I have'], ['completed', 'what I have']])
    })
  }

  test('time in the queue does not count', async () => {
    const { cadre, events } = await lab({
      settings: { limits: { maxRunning: 1 } },
      script: led([{ calls: [agent(part(1, { timeout: 2.2 })), agent(part(2, { timeout: 2 }))] }], (request) => (says(request, 'part 1') ? { silent: true } : { text: 'in time' })),
    })
    await cadre.run({ prompt: 'go' })
    expect(ends(events).map(({ status, output }) => [status, output])).toEqual([['partial', 'It had not done anything yet.'], ['completed', 'in time']])
  })
})

describe('KIN-14: an agent that goes in circles', () => {
  const ls = { name: 'ls', input: {} }
  for (const wire of WIRES) {
    test(`it is told once, and its parent sees that it repeats, in the list and in the check (${wire})`, async () => {
      const release = signal()
      let circling: ScriptRequest | undefined
      const { cadre, events } = await lab({
        wire,
        script: led([
          { calls: [agent(background(1))] },
          async (_request, [id = '']) => {
            await until(() => circling !== undefined)
            return { calls: [{ name: 'agent_check', input: { action: 'list' } }, { name: 'agent_check', input: { action: 'check', id } }] }
          },
          () => {
            release.give()
            return { text: 'done' }
          },
        ], async (request) => {
          if (request.turn < 8) return { calls: [ls] }
          circling = request
          await release.given
          return { text: 'blocked' }
        }),
      })
      await cadre.run({ prompt: 'go' })
      expect(JSON.stringify(circling?.body['messages']).split(REPEATED)).toHaveLength(2)
      expect(ofType(events, 'message.sent').filter(({ depth }) => depth === 1).map(({ data }) => data.text)).toEqual([REPEATED])
      const [, list = '', check = ''] = told({ events })
      expect(list.replace(/\d+ s/, '<n> s')).toBe('<id> part 1 running turn 8/50 <n> s (repeating)')
      expect(check.split('\n').slice(0, 2)).toEqual(['Sub-agent: part 1 (explorer)', 'Status: running (turn 8/50), repeating'])
    })
  }

  test('another input, another tool or another outcome between begins the count anew', async () => {
    const steps = [ls, ls, { name: 'ls', input: { path: '.' } }, ls, ls, { name: 'glob', input: { pattern: '*' } }, ls, ls]
    const { cadre, events } = await lab({ script: led([{ calls: [agent(part(1))] }], ({ turn }) => (steps[turn - 1] ? { calls: steps.slice(turn - 1, turn) } : { text: 'found' })) })
    await cadre.run({ prompt: 'go' })
    expect(endOf(events, 'part 1')).toMatchObject({ status: 'completed', toolCalls: steps.length })
    expect(ofType(events, 'message.sent')).toEqual([])
  })
})

describe('KIN-15: nobody outlives the agent that started it', () => {
  const family = (lead: Script, root: Parameters<typeof led>[0]) => ({
    settings: { limits: { maxDepth: 3 } },
    files: { ...type('lead', 'tools: Read, Agent'), ...type('mid', 'tools: Read, Agent') },
    script: (request: ScriptRequest) => {
      if (isRoot(request)) return led(root)(request)
      if (is(request, 'lead')) return lead(request)
      if (is(request, 'mid') && request.turn === 1) return { calls: [agent(background(3))] }
      return { silent: true } as const
    },
  })
  const leadsOn: Script = ({ turn }) => (turn === 1 ? { calls: [agent(background(2, { subagent_type: 'mid' }))] } : { silent: true })
  const settled = ({ events }: Pick<Lab, 'events'>) => children({ events }, 'turn.started').filter(({ depth }) => depth === 3).length === 1

  test('one that is stopped takes all below it along, depth first', async () => {
    const place = await lab(family(leadsOn, [{ calls: [agent(background(1, { subagent_type: 'lead' }))] }, async (_request, [id = '']) => {
      await until(() => settled(place))
      return { calls: [{ name: 'agent_stop', input: { agent_id: id } }] }
    }]))
    await place.cadre.run({ prompt: 'go' })
    expect(told(place)[1]).toBe('Stopped <id> (part 1). No task notification will follow.\nIt had not done anything yet.')
    expect(ends(place.events).map(({ title, status, cause, error }) => [title, status, cause, error])).toEqual([
      ['part 3', 'killed', 'parent', 'The agent that started it ended.'],
      ['part 2', 'killed', 'parent', 'The agent that started it ended.'],
      ['part 1', 'killed', 'parent', 'The agent that started it stopped it.'],
    ])
  })

  test('so does one that fails, and one without a turn left', async () => {
    for (const [how, ending] of [['refused', ['failed', 'model']], ['no turn', ['partial', 'max_turns']]] as const) {
      const place: Lab = await lab(family(
        async (request) => {
          if (request.turn === 1) return leadsOn(request)
          await until(() => settled(place))
          return how === 'refused' ? { status: 401, text: 'bad key' } : { calls: [{ name: 'read', input: { path: 'a.txt' } }] }
        },
        [{ calls: [agent(part(1, { subagent_type: 'lead', ...(how === 'no turn' && { max_turns: 2 }) }))] }],
      ))
      expect(await place.cadre.run({ prompt: 'go' })).toMatchObject({ status: 'completed', output: 'done' })
      expect(ends(place.events).map(({ title, status, cause }) => [title, status, cause])).toEqual([
        ['part 3', 'killed', 'parent'], ['part 2', 'killed', 'parent'], ['part 1', ...ending],
      ])
    }
  })

  test('a delegation that is still being prepared when its parent is stopped never begins', async () => {
    const REPOSITORY = { '.git/HEAD': 'ref: refs/heads/main\n', '.git/config': '', '.git/objects/info/none': '', '.git/refs/heads/.none': '' }
    const { cadre, root, events, server } = await lab({
      files: REPOSITORY,
      script: (request) => {
        if (!says(request, 'hold git up')) return { text: 'ok' }
        // git waits for a writer of it, and its last answer is too old to be used again.
        execFileSync('mkfifo', [join(root, '.gitignore')])
        const now = performance.now.bind(performance)
        vi.spyOn(performance, 'now').mockImplementation(() => now() + 60_000)
        return { calls: [agent(part(1)), { name: 'agent_check', input: { action: 'list' } }] }
      },
    })
    onTestFinished(() => void vi.restoreAllMocks())
    const running = cadre.run({ prompt: 'hold git up' })
    await until(() => ofType(events, 'tool.ended').length === 1)
    await cadre.agents.stop(ofType(events, 'tool.ended')[0]?.agent ?? '')
    expect(await running).toMatchObject({ status: 'killed', cause: 'user' })
    await writeFile(join(root, '.gitignore'), '')
    // It asks git the same, and hears what the delegation hears, after it.
    expect(await cadre.run({ prompt: 'go on' })).toMatchObject({ status: 'completed' })
    expect(server.requests).toHaveLength(2)
    expect(events.filter(({ depth }) => depth > 0)).toEqual([])
  })
})
