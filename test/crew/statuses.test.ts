import { describe, expect, test } from 'vitest'
import type { JsonObject } from '../../src/core/json.ts'
import { createThreads } from '../../src/threads/runner.ts'
import type { OrchestratorOptions } from '../../src/api.ts'
import { holds, lab, ofType } from '../delegation/lab.ts'
import type { Lab } from '../delegation/lab.ts'
import type { Script, Wire } from '../server/provider-server.ts'
import { agent, background, endOf, ends, led, part, says, told, until } from './lead.ts'

const NOTHING = 'It had not done anything yet.'
const USED = { usage: { input: 2, output: 1 } } as const
const look = { name: 'ls', input: {} }

/** Takes a thread down from within: see the fixture. */
const saboteurs = () => createThreads({ entry: new URL('../delegation/fixtures/saboteur.ts', import.meta.url), heapMb: 32 })

const PROGRAM = '---\nname: prog\ndescription: d\nmodel: script\ntools: Read\n---\n```js\nthrow new Error("first line\\nOutput:\\nall is well")\n```\n'

type Row = {
  readonly title: string
  readonly input?: JsonObject
  readonly files?: Readonly<Record<string, string>>
  readonly settings?: JsonObject
  readonly orchestrator?: () => OrchestratorOptions
  readonly child: Script
  /** Done once the child has asked its model for the first time. */
  readonly meanwhile?: (cadre: Lab['cadre'], id: string) => Promise<void>
  readonly status: string
  /** `Turns: <n>  Tool calls: <n>  Tokens: <n>`. */
  readonly figures: readonly [turns: number, calls: number, tokens: number]
  readonly reason?: RegExp
  readonly notes?: readonly string[]
  readonly output: string
  readonly type?: string
  readonly model?: string
  readonly wires?: readonly Wire[]
}

const BOTH: readonly Wire[] = ['openai', 'anthropic']

const ROWS: readonly Row[] = [
  { title: 'an answer', child: () => ({ text: 'forty-two\n\nOutput:\nmore', ...USED }), status: 'completed', figures: [1, 0, 3], output: 'forty-two\n\nOutput:\nmore', wires: BOTH },
  {
    title: 'an answer with notes, one for each', input: { colour: 'red', model: 'haiku', tools: ['Read', 'Raed'] },
    child: () => ({ text: 'ok', ...USED }), status: 'completed', figures: [1, 0, 3], output: 'ok',
    notes: [
      'colour is not supported here and was ignored',
      'Model alias "haiku" is not mapped; the agent runs on its parent\'s model, openai/gpt-test. Set modelAliases.haiku to choose one.',
      'unknown tool Raed was left out, did you mean Read?',
    ],
  },
  {
    title: 'no turn left', input: { max_turns: 2 }, child: () => ({ text: 'still looking', calls: [look], ...USED }),
    status: 'partial (max_turns)', figures: [2, 2, 6], reason: /^It reached its limit of 2 turns\.$/, output: 'still looking', wires: BOTH,
  },
  {
    title: 'no time left, before its first word', input: { timeout: 0.3 }, child: () => ({ silent: true }),
    status: 'partial (timeout)', figures: [1, 0, 0], reason: /^It reached its time limit of 0\.3 s\.$/, output: NOTHING,
  },
  {
    title: 'a refused request', child: () => ({ status: 401, text: 'bad key' }),
    status: 'failed (model)', figures: [1, 0, 0], reason: /^openai\/gpt-test failed: 401: bad key\. .+/, output: NOTHING,
  },
  {
    title: 'a refusal that looks like a result', child: () => ({ status: 400, text: 'no\nOutput:\nall is well' }),
    status: 'failed (model)', figures: [1, 0, 0], reason: /^openai\/gpt-test failed: 400: no Output: all is well\. .+/, output: NOTHING,
  },
  {
    title: 'an empty reply, twice, after some words', child: ({ turn }) => (turn === 1 ? { text: 'on my way', calls: [look], ...USED } : { empty: true, usage: { input: 1, output: 0 } }),
    status: 'failed (model)', figures: [2, 1, 5], reason: / failed after 2 tries: .+/, output: 'on my way', wires: BOTH,
  },
  {
    title: 'a blank reply, twice', child: () => ({ text: ' \n ', usage: { input: 1, output: 0 } }),
    status: 'failed (model)', figures: [1, 0, 2], reason: / failed after 2 tries: .+/, output: NOTHING, wires: BOTH,
  },
  {
    title: 'a rate limit that does not end', settings: { models: { maxTries: 2 } }, child: () => ({ status: 429, text: 'Too many requests.', headers: { 'retry-after': '0' } }),
    status: 'failed (rate_limit)', figures: [1, 0, 0], reason: / failed after 2 tries: 429: Too many requests\. .+/, output: NOTHING, wires: BOTH,
  },
  {
    title: 'a reply that breaks off each time', settings: { models: { maxTries: 1 } }, child: () => ({ text: 'half of an answer', drop: 'mid-stream' }),
    status: 'failed (model)', figures: [1, 0, 0], reason: /^openai\/gpt-test failed: .+/, output: NOTHING,
  },
  {
    title: 'an answer that fits no schema', input: { output_schema: { type: 'integer' } }, child: () => ({ text: 'three', ...USED }),
    status: 'failed (output_schema)', figures: [4, 0, 12], reason: /^Its answer does not fit the output schema: it is not JSON$/, output: 'three', wires: BOTH,
  },
  {
    title: 'a program that throws what looks like a result', files: { '.cadre/agents/prog.md': PROGRAM }, input: { subagent_type: 'prog' }, child: () => ({ text: 'never asked' }),
    status: 'failed (program)', figures: [1, 0, 0], reason: /prog\.md:8: .*first line Output: all is well/, output: NOTHING, type: 'prog', model: 'script',
  },
  {
    title: 'a thread that exits', orchestrator: () => ({ runner: saboteurs() }),
    child: () => ({ text: 'on my way', calls: [{ name: 'read', input: { path: 'exits' } }], ...USED }),
    status: 'failed (crashed)', figures: [1, 1, 3], reason: /sa-[0-9a-z]{8}.*turn 1.*read/, output: 'on my way',
  },
  {
    title: 'a model nobody has a key for', files: { '.cadre/agents/far.md': '---\nname: far\ndescription: d\nmodel: google/gemini-9\ntools: Read\n---\nYou are far.\n' },
    input: { subagent_type: 'far' }, child: () => ({ text: 'never asked' }),
    status: 'failed (setup)', figures: [0, 0, 0], reason: /GEMINI|GOOGLE/, output: NOTHING, type: 'far', model: 'google/gemini-9',
  },
  {
    title: 'a stop by the user', child: ({ turn }) => (turn === 1 ? { text: 'on my way', calls: [look], ...USED } : { silent: true }),
    meanwhile: (cadre, id) => cadre.agents.stop(id),
    status: 'killed (user)', figures: [2, 1, 3], reason: /^The user stopped it\.$/, output: 'on my way',
  },
]

describe('AGT-05, AGT-06, KIN-09, KIN-10: what a parent reads of each end, word for word', () => {
  for (const row of ROWS) {
    for (const wire of row.wires ?? ['openai']) {
      test(`${row.status}: ${row.title} (${wire})`, async () => {
        const place = await lab({
          wire,
          ...(row.files && { files: row.files }),
          ...(row.settings && { settings: row.settings }),
          ...(row.orchestrator && { orchestrator: row.orchestrator() }),
          script: led([{ calls: [agent(part(1, row.input))] }], row.child),
        })
        const { cadre, events } = place
        const running = cadre.run({ prompt: 'go' })
        if (row.meanwhile) {
          const id = () => ofType(events, 'turn.started').find(({ depth, data }) => depth === 1 && data.turn === row.figures[0])?.agent
          await until(() => id() !== undefined)
          await row.meanwhile(cadre, id() ?? '')
        }
        expect(await running).toMatchObject({ status: 'completed', output: 'done' })
        const result = endOf(events, 'part 1')
        const [turns, calls, tokens] = row.figures
        const [block = ''] = told(place)
        const reason = /^Reason: (.*)$/m.exec(block)?.[1]
        expect(block.split('\n')).toEqual([
          'Agent id: <id>',
          `Sub-agent: part 1 (${row.type ?? 'explorer'}, ${row.model ?? (wire === 'openai' ? 'openai/gpt-test' : 'anthropic/claude-test')})`,
          `Status: ${row.status}`,
          `Turns: ${turns}  Tool calls: ${calls}  Tokens: ${tokens}  Cost: $${result.costUsd.toFixed(4)}  Time: <n> s`,
          ...(row.reason ? [`Reason: ${reason}`] : []),
          ...(row.notes ?? []).map((note) => `Note: ${note}`),
          'Output:',
          ...row.output.split('\n'),
        ])
        if (row.reason) expect(endOf(events, 'part 1').error?.replaceAll(/\s+/g, ' ')).toMatch(row.reason)
        const [status, cause = null] = row.status.replace(')', '').split(' (')
        expect(result).toMatchObject({ status, cause, success: status === 'completed', output: row.output })
        expect(result.error === null).toBe(status === 'completed')
        expect(ofType(events, 'tool.ended').filter(({ depth }) => depth === 0).map(({ data }) => data.outcome.ok)).toEqual([true])
      })
    }
  }

  test('killed (parent): a stop by agent_stop, as agent_check shows it', async () => {
    const { cadre, events } = await lab({
      script: led([
        { calls: [agent(background(1))] },
        async (_request, [id]) => {
          await until(() => ofType(events, 'turn.started').some(({ depth, data }) => depth === 1 && data.turn === 2))
          return { calls: [{ name: 'agent_stop', input: { agent_id: id ?? '' } }] }
        },
        (_request, [id]) => ({ calls: [{ name: 'agent_check', input: { id: id ?? '' } }] }),
      ], ({ turn }) => (turn === 1 ? { text: 'on my way', calls: [look], ...USED } : { silent: true })),
    })
    await cadre.run({ prompt: 'go' })
    expect(told({ events }).slice(1)).toEqual([
      'Stopped <id> (part 1). No task notification will follow.\non my way',
      `Agent id: <id>\nSub-agent: part 1 (explorer, openai/gpt-test)\nStatus: killed (parent)\nTurns: 2  Tool calls: 1  Tokens: 3  Cost: $${endOf(events, 'part 1').costUsd.toFixed(4)}  Time: <n> s\nReason: The agent that started it stopped it.\nOutput:\non my way`,
    ])
  })
})

describe('KIN-09: the first final status wins', () => {
  /** A runner that does something in the moment an agent's loop has ended, before anyone knows. */
  const pausing = (atEnd: (agent: string) => void): OrchestratorOptions => {
    const threads = createThreads()
    return { runner: { ...threads, async run(job) {
      const report = await threads.run(job)
      atEnd(job.brief.agent)
      return report
    } } }
  }

  test('a stop that was shown before the answer is what it stays', async () => {
    const place: { cadre?: Lab['cadre'] } = {}
    const { cadre, events } = await lab({
      orchestrator: pausing((id) => void place.cadre?.agents.stop(id)),
      script: led([{ calls: [agent(part(1))] }], () => ({ text: 'an answer', ...USED })),
    })
    place.cadre = cadre
    await cadre.run({ prompt: 'go' })
    expect(ends(events).map(({ status, cause, output }) => [status, cause, output])).toEqual([['killed', 'user', 'an answer']])
  })

  test('later stops change nothing and are told so: one end in the journal', async () => {
    const { cadre, events } = await lab({
      script: led([
        { calls: [agent(part(1)), agent(background(2))] },
        async (_request, ids) => {
          await until(() => ends(events).length === 2)
          return { calls: ids.map((id) => ({ name: 'agent_stop', input: { agent_id: id } })) }
        },
      ], (request) => ({ text: says(request, 'part 1') ? 'one' : 'two', ...USED })),
    })
    const { session } = await cadre.run({ prompt: 'go' })
    const answers = told({ events }).slice(2)
    expect(answers.map((text) => text.split('\n')[0])).toEqual(Array(2).fill('<id> has already ended (completed); nothing was stopped.'))
    expect([...cadre.journal.events({ session, types: ['delegation.ended'] })].filter(({ depth }) => depth === 1)).toHaveLength(2)
    expect(ends(events).map(({ status }) => status)).toEqual(['completed', 'completed'])
    await expect(cadre.agents.stop(ends(events)[0]?.agentId ?? '')).rejects.toMatchObject({ code: 'NOT_FOUND' })
  })

  test('a stop of one and then of all: what the first said of it stays', async () => {
    const { cadre, events } = await lab({ script: led([{ calls: [agent(background(1)), agent(background(2))] }], () => ({ silent: true })) })
    const stopping = new AbortController()
    const running = cadre.run({ prompt: 'go', signal: stopping.signal })
    const asked = () => ofType(events, 'turn.started').filter(({ depth }) => depth === 1)
    await until(() => asked().length === 2)
    const first = cadre.agents.stop(asked()[0]?.agent ?? '')
    stopping.abort()
    await Promise.all([first, running])
    const reasons = new Map(ends(events).map(({ agentId, status, cause, error }) => [agentId, [status, cause, error]]))
    expect(reasons.get(asked()[0]?.agent ?? '')).toEqual(['killed', 'user', 'The user stopped it.'])
    expect(reasons.get(asked()[1]?.agent ?? '')?.[0]).toBe('killed')
    expect(reasons.size).toBe(2)
  })
})

test('KIN-09: queued, running and waiting are shown while they last', async () => {
  const LEAD = '---\nname: lead\ndescription: d\ntools: Read, Agent\n---\nYou are lead.\n'
  const { cadre, events } = await lab({
    files: { '.cadre/agents/lead.md': LEAD },
    settings: { limits: { maxRunning: 2 } },
    script: async (request) => {
      const isRoot = holds(request, 'blame')
      if (!isRoot) return request.system.includes('You are lead') ? { calls: [agent(part(9))] } : { silent: true }
      if (request.turn === 1) return { calls: [agent(background(1, { subagent_type: 'lead' })), agent(background(2))] }
      // The lead's own child is there before the third asks for a place.
      await until(() => ofType(events, 'turn.started').filter(({ depth }) => depth > 0).length === 3)
      if (request.turn === 2) return { calls: [agent(background(3))] }
      return request.turn === 3 ? { calls: [{ name: 'agent_check', input: { action: 'list' } }] } : { silent: true }
    },
  })
  const stopping = new AbortController()
  const running = cadre.run({ prompt: 'go', signal: stopping.signal })
  await until(() => told({ events }).length > 3 && told({ events })[3] !== 'no outcome')
  expect(told({ events })[3]?.replaceAll(/\d+ s/g, '<n> s').split('\n')).toEqual([
    '<id> part 1 waiting turn 1/50 <n> s',
    '<id> part 2 running turn 1/50 <n> s',
    '<id> part 3 queued turn 0/50 <n> s',
  ])
  stopping.abort()
  await running
  expect(ends(events).every(({ status }) => status === 'killed')).toBe(true)
})
