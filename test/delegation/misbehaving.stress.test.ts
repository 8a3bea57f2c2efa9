import { describe, expect, test } from 'vitest'
import { createThreads } from '../../src/threads/runner.ts'
import { lab, ofType, parentAndChildren } from './lab.ts'

/** Long enough for an agent to say its first word on a busy machine. */
const HANG_SECONDS = 4

const part = (name: string, timeout?: number) =>
  ({ description: name, prompt: name, subagent_type: 'explorer', ...(timeout !== undefined && { timeout }) })

describe('KIN-13, KIN-09: what happens in one agent\'s thread costs that agent only', () => {
  test('a hanging regex, a throw, a full heap and an exit each end with their own status, and nine neighbours finish', async () => {
    const bad = ['regex', 'throws', 'heap', 'exits']
    const good = Array.from({ length: 9 }, (_, i) => `good ${i}`)
    const { cadre, events } = await lab({
      orchestrator: { runner: createThreads({ entry: new URL('fixtures/saboteur.ts', import.meta.url), heapMb: 32 }) },
      script: parentAndChildren([...bad.map((name) => part(name, name === 'regex' ? HANG_SECONDS : undefined)), ...good.map((name) => part(name))], ({ turn, task }) =>
        turn <= 3 ? { text: 'on my way', calls: [{ name: 'read', input: { path: bad.includes(task) ? task : 'a.txt', limit: turn } }] } : { text: `${task} done` }),
    })
    const result = await cadre.run({ prompt: 'go' })
    expect(result.status).toBe('completed')
    const ends = Object.fromEntries(ofType(events, 'delegation.ended').map(({ data: { result: end } }) => [end.title, end]))
    expect(ends['regex']).toMatchObject({ status: 'partial', cause: 'timeout', error: `It reached its time limit of ${HANG_SECONDS} s.`, output: 'on my way' })
    for (const name of ['throws', 'heap', 'exits']) {
      expect(ends[name]).toMatchObject({ status: 'failed', cause: 'crashed', output: 'on my way' })
      expect(ends[name]?.error).toMatch(/sa-[0-9a-z]{8}.*turn 1.*read/s)
    }
    expect(ends['heap']?.error).toMatch(/memory|heap/)
    for (const name of good) expect([ends[name]?.error, ends[name]?.output]).toEqual([null, `${name} done`])
  })
})

describe('PRG-04, PRG-05: a hostile program costs one failed agent', () => {
  const PROGRAM = `---
name: hostile
description: does what its prompt says
model: script
tools: Read
---
\`\`\`js
if (prompt === 'loop') for (;;);
if (prompt === 'throws') throw new Error('of its own')
if (prompt === 'never') await new Promise(() => {})
const { text } = await tools.read({ path: 'a.txt' })
return text.split('\\n')[0]
\`\`\`
`
  test('a loop, a throw and a promise that never settles each fail alone', async () => {
    const bad = ['loop', 'throws', 'never']
    const good = Array.from({ length: 9 }, (_, i) => `good ${i}`)
    const { cadre, events } = await lab({
      files: { '.cadre/agents/hostile.md': PROGRAM },
      settings: { programs: { slice: 1 } },
      script: parentAndChildren([...bad, ...good].map((name) => ({ ...part(name), subagent_type: 'hostile' })), () => ({ text: 'never asked' })),
    })
    await cadre.run({ prompt: 'go' })
    const ends = Object.fromEntries(ofType(events, 'delegation.ended').map(({ data: { result } }) => [result.title, result]))
    for (const name of bad) expect(ends[name]).toMatchObject({ status: 'failed', cause: 'program' })
    expect(ends['loop']?.error).toBe('Program stopped: running time.')
    expect(ends['throws']?.error).toMatch(/hostile\.md:9: .*of its own/)
    for (const name of good) expect(ends[name]).toMatchObject({ status: 'completed', output: 'alpha', model: 'script', costUsd: 0 })
  })
})

describe('KIN-15: nobody outlives the agent that started it', () => {
  test('closing while agents run ends each as killed by the user, in the journal', async () => {
    const { cadre, server, events } = await lab({ script: parentAndChildren([part('a'), part('b')], () => ({ silent: true })) })
    const running = cadre.run({ prompt: 'go' })
    while (server.requests.length < 3) await new Promise((resolve) => setTimeout(resolve, 10))
    const result = await Promise.race([running, cadre.close().then(() => running)])
    expect(result).toMatchObject({ status: 'killed', cause: 'user', output: 'It had not done anything yet.' })
    const ends = ofType(events, 'delegation.ended').map(({ data }) => [data.result.status, data.result.cause])
    expect(ends).toHaveLength(3)
    expect(ends.filter(([status]) => status !== 'killed')).toEqual([])
  })

  test('a parent that runs out of time takes its children along, killed by the parent', async () => {
    const { cadre, events } = await lab({ settings: { limits: { timeout: 1 } }, script: parentAndChildren([part('a', 60)], () => ({ silent: true })) })
    const result = await cadre.run({ prompt: 'go' })
    expect(result).toMatchObject({ status: 'partial', cause: 'timeout' })
    const child = ofType(events, 'delegation.ended').find(({ depth }) => depth === 1)?.data.result
    expect(child).toMatchObject({ status: 'killed', cause: 'parent' })
    expect(ofType(events, 'delegation.ended').map(({ depth }) => depth)).toEqual([1, 0])
  })
})

test('SCO-10: a running agent keeps its version while its file changes', async () => {
  const { writeFileSync } = await import('node:fs')
  const { join } = await import('node:path')
  const type = (text: string) => `---\nname: versioned\ndescription: d\ntools: Read\n---\n${text}\n`
  const systems: string[] = []
  const { cadre, root, events } = await lab({
    files: { '.cadre/agents/versioned.md': type('FIRST') },
    orchestrator: { watch: true },
    script: parentAndChildren([{ ...part('one'), subagent_type: 'versioned' }], async ({ turn, system }) => {
      systems.push(system)
      if (turn > 1) return { text: 'done' }
      writeFileSync(join(root, '.cadre/agents/versioned.md'), type('SECOND'))
      while (!events.some(({ type: kind }) => kind === 'types.reloaded')) await new Promise((resolve) => setTimeout(resolve, 20))
      return { calls: [{ name: 'read', input: { path: 'a.txt' } }] }
    }),
  })
  await cadre.run({ prompt: 'go' })
  expect(systems.map((system) => /FIRST|SECOND/.exec(system)?.[0])).toEqual(['FIRST', 'FIRST'])
  expect(cadre.types.require('versioned').prompt).toContain('SECOND')
  expect(ofType(events, 'types.reloaded')[0]?.data).toEqual({ added: [], changed: ['versioned'], removed: [] })
})
