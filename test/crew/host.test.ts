import { describe, expect, test } from 'vitest'
import type { DelegationInfo } from '../../src/api.ts'
import type { JsonObject } from '../../src/core/json.ts'
import { createThreads } from '../../src/threads/runner.ts'
import { holds, lab } from '../delegation/lab.ts'
import type { Script, ScriptRequest } from '../server/provider-server.ts'

const LEAD = '---\nname: lead\ndescription: leads\ntools: Read, Agent\n---\nYou lead.\n'
const job = (type: string): JsonObject => ({ description: `a ${type}`, prompt: `Be a ${type}.`, subagent_type: type })

/** The root starts a lead, the lead an explorer. */
const twoLevels: Script = (request) => {
  if (!holds(request, 'agent')) return { text: 'explored' }
  if (request.turn > 1) return { text: request.toolResults[0]?.text ?? '' }
  return { calls: [{ name: 'agent', input: job(request.system.includes('You lead.') ? 'explorer' : 'lead') }] }
}

describe('PRM-15: hooks of the host hear every delegation', () => {
  test('at every depth: id, type, parent, then status, output and usage', async () => {
    const started: DelegationInfo[] = []
    const ended: { readonly agentId: string; readonly status: string; readonly output: string; readonly depth: number }[] = []
    const { cadre } = await lab({
      files: { '.cadre/agents/lead.md': LEAD }, script: twoLevels,
      orchestrator: { onDelegationStart: (info) => void started.push(info), onDelegationComplete: (info) => void ended.push(info) },
    })
    const { agentId, session } = await cadre.run({ prompt: 'go' })
    expect(started).toMatchObject([
      { agentType: 'lead', title: 'a lead', parent: agentId, depth: 1, session },
      { agentType: 'explorer', title: 'a explorer', parent: started[0]?.agentId, depth: 2, session },
    ])
    expect(ended.map((end) => [end.agentId, end.depth, end.status])).toEqual([[started[1]?.agentId, 2, 'completed'], [started[0]?.agentId, 1, 'completed']])
    expect(ended[0]).toMatchObject({ output: 'explored', turns: 1, usage: { output: expect.any(Number) as number }, costUsd: 0 })
  })

  test('one that throws fails no agent, and its fault is told once', async () => {
    const told: string[] = []
    const broken = () => { throw new Error('of the host') }
    const { cadre } = await lab({
      files: { '.cadre/agents/lead.md': LEAD }, script: twoLevels,
      orchestrator: { onDelegationStart: broken, onDelegationComplete: broken, onEvent: broken, onDiagnostic: ({ message }) => void told.push(message) },
    })
    expect(await cadre.run({ prompt: 'go' })).toMatchObject({ status: 'completed' })
    expect(told).toEqual(['a listener failed: of the host'])
  })

  test('so with one whose promise rejects, the one that hears of faults, and those of a run and a sweep', async () => {
    const rejecting = (() => Promise.reject(new Error('of the host'))) as () => void
    const broken = () => { throw new Error('of the host') }
    const { cadre } = await lab({
      files: { '.cadre/agents/odd.md': '---\nname: odd\n---\n' },
      script: (request) => (request.turn === 1 ? { calls: [{ name: 'agent', input: { ...job('explorer'), run_in_background: true } }] } : { text: 'answered' }),
      orchestrator: { onEvent: rejecting, onDelegationStart: rejecting, onDiagnostic: broken },
    })
    expect(await cadre.run({ prompt: 'go', onIdle: 'turn', onAnswer: broken })).toMatchObject({ status: 'completed' })
    expect(await cadre.sweep({ agent: 'todo-audit', over: 'a.txt', onProgress: broken })).toMatchObject({ status: 'completed' })
  })
})

describe('GRA-10: a host says which types a run may start', () => {
  const ask = (types: boolean | readonly string[]) => async () => {
    const { cadre } = await lab({ script: (request) => (request.turn === 1 ? { calls: [{ name: 'agent', input: job('reviewer') }] } : { text: request.toolResults[0]?.text ?? '' }) })
    return (await cadre.run({ prompt: 'go', types })).output
  }
  test('none', async () => {
    expect(await ask(false)()).toBe('Error: Unknown sub-agent type "reviewer". Available: none.')
  })
  test('only those named', async () => {
    expect(await ask(['explorer'])()).toBe('Error: Unknown sub-agent type "reviewer". Available: explorer.')
    expect(await ask(['reviewer'])()).toContain('Sub-agent: a reviewer (reviewer,')
  })
})

describe('PRO-06: what a child hears of its parent\'s conversation', () => {
  const childOf = (requests: readonly { readonly request: ScriptRequest | null }[]): string =>
    JSON.stringify(requests.flatMap(({ request }) => (request && !holds(request, 'agent') ? request.body['messages'] ?? [] : [])))
  const script: Script = (request) => {
    if (!holds(request, 'agent')) return { text: 'heard' }
    if (request.turn === 1) return { text: 'I look first.', calls: [{ name: 'ls', input: {} }] }
    return request.turn === 2 ? { text: 'Now you.', calls: [{ name: 'agent', input: job('explorer') }] } : { text: 'done' }
  }

  test('none by default; the words of both with conversation; what a function selects', async () => {
    const silent = await lab({ script })
    await silent.cadre.run({ prompt: 'find the needle' })
    expect(childOf(silent.server.requests)).not.toContain('needle')
    const whole = await lab({ script, orchestrator: { delegation: { messages: 'conversation' } } })
    await whole.cadre.run({ prompt: 'find the needle' })
    for (const heard of ['find the needle', 'I look first.', 'Be a explorer.']) expect(childOf(whole.server.requests)).toContain(heard)
    const chosen = await lab({ script, orchestrator: { delegation: { messages: (messages) => messages.slice(0, 1) } } })
    await chosen.cadre.run({ prompt: 'find the needle' })
    expect(childOf(chosen.server.requests)).toContain('find the needle')
    expect(childOf(chosen.server.requests)).not.toContain('I look first.')
  })
})

test('layers that threads could not hold are none: a warning says how many count, and nesting as deep as that finishes (KIN-05)', async () => {
  const told: string[] = []
  const { cadre, events } = await lab({
    files: { '.cadre/agents/lead.md': LEAD },
    settings: { limits: { maxDepth: 4 } },
    script: (request) => (request.turn > 1 || !holds(request, 'agent') ? { text: request.toolResults[0]?.text ?? 'bottom' } : { calls: [{ name: 'agent', input: job('lead') }] }),
    orchestrator: { runner: createThreads({ max: 2 }), onDiagnostic: ({ message, remedy }) => void told.push(`${message}; ${remedy}`) },
  })
  expect(await cadre.run({ prompt: 'go' })).toMatchObject({ status: 'completed' })
  expect(told).toEqual(['4 layers need more threads than the 2 there are; 2 count'])
  expect(Math.max(...events.map(({ depth }) => depth))).toBe(2)
})

test('a closed orchestrator says so, whatever it is asked for', async () => {
  const { cadre } = await lab()
  await cadre.close()
  for (const asked of [() => cadre.run({ prompt: 'go' }), () => cadre.resume({ session: 'ss-1' }), () => cadre.sweep({ agent: 'todo-audit', over: '*' })]) {
    await expect(asked()).rejects.toThrow('This orchestrator is closed. Create a new one.')
  }
})
