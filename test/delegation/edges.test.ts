import { describe, expect, test } from 'vitest'
import { createThreads } from '../../src/threads/runner.ts'
import { holds, lab, ofType, parentAndChildren } from './lab.ts'

const part = (n: number, more = {}) => ({ description: `part ${n}`, prompt: `Look at part ${n}.`, subagent_type: 'explorer', ...more })
const agent = (name: string, fields: string) => `---\nname: ${name}\ndescription: d\n${fields}\n---\nYou are ${name}.\n`

test('a type whose outputSchema is no schema is a refusal, and its parent goes on (AGT-03)', async () => {
  const { cadre, events } = await lab({
    files: { '.cadre/agents/odd.md': agent('odd', 'tools: Read\noutputSchema: {type: nonsense}') },
    script: parentAndChildren([part(1, { subagent_type: 'odd' })], () => ({ text: 'never asked' })),
  })
  const result = await cadre.run({ prompt: 'go' })
  expect(result.status).toBe('completed')
  expect(result.output).toMatch(/Error: The output schema is not a JSON Schema/)
  expect(ofType(events, 'delegation.refused')).toHaveLength(1)
})

test('AGT-10: a pattern that runs for ever on an answer holds nobody else up', async () => {
  const pattern = { type: 'object', properties: { a: { type: 'string', pattern: '^(a+)+$' } } }
  const { cadre, events } = await lab({
    script: parentAndChildren([part(1, { output_schema: pattern }), part(2)], ({ task }) => ({ text: task.includes('part 2') ? 'fine' : `{"a":"${'a'.repeat(40)}!"}` })),
  })
  expect((await cadre.run({ prompt: 'go' })).status).toBe('completed')
  const ends = ofType(events, 'delegation.ended').filter(({ depth }) => depth === 1).map(({ data }) => [data.result.title, data.result.status, data.result.cause])
  expect(ends).toContainEqual(['part 1', 'failed', 'output_schema'])
  expect(ends).toContainEqual(['part 2', 'completed', null])
})

describe('a stop is never lost', () => {
  test('before the root agent is there', async () => {
    const { cadre } = await lab({ script: () => ({ silent: true }) })
    const stopping = new AbortController()
    const running = cadre.run({ prompt: 'go', signal: stopping.signal })
    await Promise.resolve()
    stopping.abort()
    await expect(running.then(({ status, cause }) => [status, cause])).resolves.toEqual(['killed', 'user'])
  })

  test('while children are still being queued: all end, and nothing is left unhandled', async () => {
    const { cadre, events } = await lab({
      settings: { limits: { maxRunning: 1 } },
      script: parentAndChildren(Array.from({ length: 30 }, (_, i) => part(i)), () => ({ silent: true })),
    })
    const stopping = new AbortController()
    const running = cadre.run({ prompt: 'go', signal: stopping.signal })
    while (!events.some(({ type }) => type === 'tool.started')) await new Promise((resolve) => setImmediate(resolve))
    stopping.abort()
    expect(await running).toMatchObject({ status: 'killed', cause: 'user' })
    const ends = ofType(events, 'delegation.ended').filter(({ depth }) => depth === 1)
    expect(new Set(ends.map(({ agent: id }) => id)).size).toBe(ends.length)
    expect(ends.every(({ data }) => data.result.status === 'killed')).toBe(true)
  })
})

test('KIN-05: agents that delegate three deep finish with four threads and two places', { timeout: 60_000 }, async () => {
  const { cadre, events } = await lab({
    settings: { limits: { maxDepth: 3, maxRunning: 2 } },
    orchestrator: { runner: createThreads({ max: 4 }) },
    files: { '.cadre/agents/lead.md': agent('lead', 'tools: Read, Agent') },
    script: (request) => {
      if (!holds(request, 'agent') || request.turn > 1) return { text: 'done' }
      const calls = [1, 2, 3].map((n) => ({ name: 'agent', input: part(n, { subagent_type: 'lead' }) }))
      return { calls: request.system.includes('You are lead') ? calls.slice(0, 2) : calls }
    },
  })
  expect((await cadre.run({ prompt: 'go' })).status).toBe('completed')
  expect(ofType(events, 'delegation.ended').filter(({ data }) => data.result.status === 'completed')).toHaveLength(1 + 3 + 6 + 12)
})

describe('KIN-11: turn limits', () => {
  const looking = () => ({ text: 'still looking', calls: [{ name: 'ls', input: {} }] })

  test('the user\'s limit holds for the main agent whatever its type says, and is not its children\'s', async () => {
    const { cadre, events } = await lab({
      files: { '.cadre/agents/lead.md': agent('lead', 'tools: Read, LS, Agent\nmaxTurns: 20') },
      script: (request) => (holds(request, 'agent') ? (request.turn === 1 ? { calls: [{ name: 'agent', input: part(1) }] } : looking()) : request.turn < 6 ? looking() : { text: 'found' }),
    })
    const result = await cadre.run({ prompt: 'go', agent: 'lead', maxTurns: 3 })
    expect(result).toMatchObject({ status: 'partial', cause: 'max_turns', turns: 3 })
    expect(ofType(events, 'delegation.ended').find(({ depth }) => depth === 1)?.data.result).toMatchObject({ status: 'completed', turns: 6 })
  })
})

describe('MOD-02, MOD-04', () => {
  test('a model the user names is that model or an error', async () => {
    const { cadre } = await lab()
    await expect(cadre.run({ prompt: 'go', model: 'clude-opus-5' })).rejects.toThrow(/--model.*clude-opus-5/)
    await expect(cadre.run({ prompt: 'go', model: 'sonnet' })).rejects.toThrow(/sonnet/)
    expect(cadre.journal.sessions()).toEqual([])
  })

  test('a child that says nothing about effort has its parent\'s', async () => {
    const efforts: unknown[] = []
    const { cadre } = await lab({
      files: { '.cadre/agents/lead.md': agent('lead', 'tools: Read, Agent\neffort: high') },
      script: (request) => (efforts.push(request.body['reasoning_effort']), parentAndChildren([part(1)], () => ({ text: 'ok' }))(request)),
    })
    await cadre.run({ prompt: 'go', agent: 'lead' })
    expect(efforts).toEqual(['high', 'high', 'high'])
  })
})

test('cost is summed request by request, at the price of each', async () => {
  const { cadre } = await lab({
    settings: { prices: { 'openai/gpt-test': { input: 1, output: 10 } } },
    script: ({ turn }) => ({ ...(turn < 3 ? { calls: [{ name: 'ls', input: {} }] } : { text: 'ok' }), usage: { input: 1000, output: 100 } }),
  })
  expect((await cadre.run({ prompt: 'go' })).costUsd).toBeCloseTo(3 * (1000 + 1000) / 1e6, 10)
})

test('JRN-08: keys are also in no delta and no returned result', async () => {
  const { cadre, events } = await lab({ script: () => ({ text: 'the key is sk-test-openai, keep it', chunks: 1 }) })
  const result = await cadre.run({ prompt: 'go' })
  expect(ofType(events, 'delta').length).toBeGreaterThan(0)
  expect(JSON.stringify([result, events])).not.toContain('sk-test-openai')
  expect(result.output).toBe('the key is [redacted], keep it')
})

test('GRA-05: a user\'s tool list that names nothing there is refused before anything exists', async () => {
  const { cadre } = await lab()
  await expect(cadre.run({ prompt: 'go', tools: ['Raed'] })).rejects.toThrow('No tool is left for main: it asks for Raed; available here: read, ls, glob, grep, blame, write, edit, bash, web_fetch, todo, agent, agent_send, agent_stop, agent_wait, agent_check, run_code.')
})

test('a folder that is not there is one clear error', async () => {
  const { createOrchestrator } = await import('../../src/orchestrator.ts')
  await expect(createOrchestrator({ cwd: '/no/such/folder' })).rejects.toMatchObject({ code: 'NOT_FOUND', message: 'There is no folder /no/such/folder to work in.' })
})

test('TYP-19: a diagnostic is told once, to the first session only', async () => {
  const { cadre, events } = await lab({ files: { '.cadre/agents/bad.md': '---\nname: bad\n---\nno description\n' } })
  await cadre.run({ prompt: 'go' })
  await cadre.run({ prompt: 'again' })
  expect(ofType(events, 'diagnostic')).toHaveLength(1)
})
