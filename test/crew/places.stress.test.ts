import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { JsonObject } from '../../src/core/json.ts'
import { createThreads } from '../../src/threads/runner.ts'
import { holds, lab, ofType } from '../delegation/lab.ts'
import type { Answer, ScriptRequest } from '../server/provider-server.ts'
import { agent, ends, part, told, until } from './lead.ts'

/** Every way in which an agent can end, and what its parent must see of it. `stop`: by its parent, `user`: by the user. */
const FATES = {
  answers: 'completed',
  'is refused': 'failed (model)',
  'is empty': 'failed (model)',
  'is limited': 'failed (rate_limit)',
  'fits nothing': 'failed (output_schema)',
  'has no turn left': 'partial (max_turns)',
  'has no time left': 'partial (timeout)',
  exits: 'failed (crashed)',
  throws: 'failed (crashed)',
  'runs a program that throws': 'failed (program)',
  'has no key': 'failed (setup)',
  'leads one that is silent, and fails': 'failed (model)',
  stop: 'killed (parent)',
  user: 'killed (user)',
} as const

type Fate = keyof typeof FATES
type Child = { readonly fate: Fate; readonly background: boolean }

const MORE: Partial<Record<Fate, JsonObject>> = {
  'fits nothing': { output_schema: { type: 'integer' } },
  'has no turn left': { max_turns: 1 },
  'has no time left': { timeout: 0.2 },
  'runs a program that throws': { subagent_type: 'prog' },
  'has no key': { subagent_type: 'far' },
  'leads one that is silent, and fails': { subagent_type: 'lead' },
}

const FILES = {
  '.cadre/agents/prog.md': '---\nname: prog\ndescription: d\nmodel: script\ntools: Read\n---\n```js\nthrow new Error("no")\n```\n',
  '.cadre/agents/far.md': '---\nname: far\ndescription: d\nmodel: google/gemini-9\ntools: Read\n---\nYou are far.\n',
  '.cadre/agents/lead.md': '---\nname: lead\ndescription: d\ntools: Read, Agent\n---\nYou are lead.\n',
}

/** What a child's model answers; the title says its fate. */
function fateOf(request: ScriptRequest): Answer {
  const [, fate = ''] = /Your fate: ([\w, ]+)\./.exec(JSON.stringify(request.body['messages'])) ?? []
  const again = request.turn > 1
  switch (fate) {
    case 'answers':
    case 'fits nothing':
      return { text: 'an answer' }
    case 'is refused':
      return { status: 401, text: 'bad key' }
    case 'is empty':
      return { empty: true }
    case 'is limited':
      return { status: 429, text: 'Too many requests.' }
    case 'has no turn left':
      return { text: 'looking', calls: [{ name: 'ls', input: {} }] }
    case 'exits':
    case 'throws':
      return { calls: [{ name: 'read', input: { path: fate } }] }
    case 'leads one that is silent, and fails':
      return again ? { status: 400, text: 'no' } : { calls: [agent(part(0, { prompt: 'Your fate: silence.', run_in_background: true }))] }
    default:
      return { silent: true }
  }
}

const RUNNING = 2

/**
 * Starts these, stops those to be stopped, waits for all, and then starts as many as may run: were one place lost, the last of them would be queued.
 * Resolves with what the parent was told, and how each ended.
 */
async function afterwards(family: readonly Child[]) {
  const input = ({ fate, background }: Child, i: number) => part(i + 1, { prompt: `Your fate: ${fate}.`, run_in_background: background, ...MORE[fate] })
  const runner = createThreads({ entry: new URL('../delegation/fixtures/saboteur.ts', import.meta.url), heapMb: 32 })
  const probes = Array.from({ length: RUNNING + 1 }, (_, i) => agent(part(100 + i, { prompt: 'Your fate: silence.', run_in_background: true })))
  const place = await lab({
    files: FILES,
    settings: { models: { maxTries: 1 }, limits: { maxRunning: RUNNING, maxBackground: RUNNING } },
    orchestrator: { runner },
    script: async (request) => {
      if (!holds(request, 'blame')) return fateOf(request)
      const { turn } = request
      if (turn === 1) return { calls: family.map((child, i) => agent(input(child, i))) }
      if (turn === 2) {
        const stopped = family.flatMap(({ fate }, i) => (fate === 'stop' ? [`part ${i + 1}`] : []))
        return { calls: [...stopped.map((title) => ({ name: 'agent_stop', input: { agent_id: idOf(title) } })), { name: 'agent_wait', input: { timeout: 100 } }] }
      }
      return turn === 3 ? { calls: probes } : { silent: true }
    },
  })
  const { cadre, events } = place
  const idOf = (title: string): string => [...ofType(events, 'delegation.started'), ...ofType(events, 'delegation.queued')].find(({ data }) => data.title === title)?.agent ?? ''
  const stopping = new AbortController()
  const running = cadre.run({ prompt: 'go', signal: stopping.signal })
  const byUser = Promise.all(family.map(async ({ fate }, i) => {
    if (fate !== 'user') return
    await until(() => idOf(`part ${i + 1}`) !== '')
    await cadre.agents.stop(idOf(`part ${i + 1}`))
  }))
  const count = () => ofType(events, 'tool.ended').filter(({ depth }) => depth === 0).length
  const expected = family.length + family.filter(({ fate }) => fate === 'stop').length + 1 + probes.length
  await Promise.all([byUser, until(() => count() === expected)])
  const answers = told(place).slice(-probes.length).map((text) => text.split('.')[0])
  const results = family.map((_child, i) => {
    const result = ends(events).find(({ title }) => title === `part ${i + 1}`)
    return result && (result.cause === null ? result.status : `${result.status} (${result.cause})`)
  })
  const outputs = ends(events).filter(({ success }) => success).map(({ output }) => output)
  stopping.abort()
  await running
  const rows = cadre.journal.agents((await running).session)
  await cadre.close()
  return { answers, results, outputs, open: rows.filter(({ ended }) => ended === null) }
}

describe('KIN-13, KIN-07, BUD-09: whatever becomes of agents, their places come back and no failure is a success', () => {
  const free = ['Started in the background as <id> (part 100)', 'Started in the background as <id> (part 101)', 'Queued in the background as <id> (part 102)']
  const check = async (family: readonly Child[]) => {
    const { answers, results, outputs, open } = await afterwards(family)
    expect(answers).toEqual(free)
    expect(results).toEqual(family.map(({ fate }) => FATES[fate]))
    expect(outputs).toEqual(family.filter(({ fate }) => fate === 'answers').map(() => 'an answer'))
    expect(open).toEqual([])
  }
  const fates = Object.keys(FATES) as Fate[]
  /** Nobody could stop one in the foreground: its parent waits for it. */
  const inBackground = (fate: Fate) => fate === 'stop'

  test('every fate once, in the background', () => check(fates.map((fate) => ({ fate, background: true }))))
  test('every fate once, in the foreground', () => check(fates.map((fate) => ({ fate, background: inBackground(fate) }))))

  test('any mix of them', async () => {
    const child = fc.record({ fate: fc.constantFrom(...fates), background: fc.boolean() }).map(({ fate, background }) => ({ fate, background: background || inBackground(fate) }))
    await fc.assert(fc.asyncProperty(fc.array(child, { minLength: 1, maxLength: 6 }), check), { numRuns: 8 })
  })
})
