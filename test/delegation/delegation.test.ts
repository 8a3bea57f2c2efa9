import { describe, expect, test } from 'vitest'
import type { JsonObject } from '../../src/core/json.ts'
import { callsThenTells, holds, lab, ofType, parentAndChildren } from './lab.ts'

const work = (n: number, more: JsonObject = {}): JsonObject => ({ description: `part ${n}`, prompt: `Look at part ${n}.`, subagent_type: 'explorer', ...more })
const numbers = (count: number) => Array.from({ length: count }, (_, i) => i + 1)

describe('AGT-11, KIN-03: calls of one reply run side by side', () => {
  for (const wire of ['openai', 'anthropic'] as const) {
    test(`eight agent calls in one reply overlap, as the journal shows (${wire})`, async () => {
      // No child is answered before all eight have asked: they can only finish if all run at once.
      const waiting: (() => void)[] = []
      const { cadre } = await lab({
        wire,
        script: parentAndChildren(numbers(8).map((n) => work(n)), async (request) => {
          await new Promise<void>((resolve) => {
            waiting.push(resolve)
            if (waiting.length === 8) for (const go of waiting) go()
          })
          return { text: `answer to ${request.task}` }
        }),
      })
      const result = await cadre.run({ prompt: 'Split this in eight.' })
      expect(result.status).toBe('completed')
      for (const n of numbers(8)) expect(result.output).toContain(`answer to Look at part ${n}.`)
      const journaled = [...cadre.journal.events({ session: result.session, types: ['delegation.started', 'delegation.ended'] })].filter(({ depth }) => depth === 1)
      expect(journaled.map(({ type }) => type)).toEqual([...Array<string>(8).fill('delegation.started'), ...Array<string>(8).fill('delegation.ended')])
    })

    test(`a hundred sub-agents with three reads each finish, queued beyond the cap (KIN-07, ${wire})`, async () => {
      const { cadre, events } = await lab({
        wire,
        script: parentAndChildren(numbers(100).map((n) => work(n)), ({ turn }) =>
          turn <= 3 ? { calls: [{ name: 'read', input: { path: 'a.txt', offset: 1 } }] } : { text: 'read it three times' }),
      })
      const result = await cadre.run({ prompt: 'Split this in a hundred.' })
      expect(result.status).toBe('completed')
      const ended = ofType(events, 'delegation.ended').filter(({ depth }) => depth === 1)
      expect(ended.map(({ data }) => data.result.status)).toEqual(Array(100).fill('completed'))
      expect(ended.every(({ data }) => data.result.toolCalls === 3 && data.result.turns === 4)).toBe(true)
      expect(ofType(events, 'delegation.queued')).toHaveLength(84)
      let running = 0
      let most = 0
      for (const { type, depth } of events) {
        if (depth !== 1) continue
        if (type === 'delegation.started') most = Math.max(most, (running += 1))
        if (type === 'delegation.ended') running -= 1
      }
      expect(most).toBeLessThanOrEqual(17) // one may be journaled as started while the end of the one before it is on its way
      expect(new Set(ended.map(({ agent }) => agent)).size).toBe(100)
    })
  }
})

describe('AGT-05, AGT-06, AGT-04: what the parent reads', () => {
  test('the block of a completed sub-agent', async () => {
    const { cadre } = await lab({ script: parentAndChildren([work(1)], () => ({ text: 'forty-two', usage: { input: 100, output: 23 } })) })
    const { output } = await cadre.run({ prompt: 'go' })
    expect(output).toMatch(/^Agent id: sa-[0-9a-z]{8}\nSub-agent: part 1 \(explorer, .+\)\nStatus: completed\nTurns: 1 {2}Tool calls: 0 {2}Tokens: 123 {2}Cost: \$\d+\.\d{4} {2}Time: \d+\.\d s\nOutput:\nforty-two$/)
  })

  test('a failed sub-agent is a successful call that says why', async () => {
    const { cadre, events } = await lab({
      script: parentAndChildren([work(1, { max_turns: 2 })], () => ({ text: 'still looking', calls: [{ name: 'read', input: { path: 'a.txt' } }] })),
    })
    const { output } = await cadre.run({ prompt: 'go' })
    expect(output).toContain('Status: partial (max_turns)\n')
    expect(output).toContain('Reason: It reached its limit of 2 turns.\n')
    expect(output).toMatch(/Output:\nstill looking$/)
    expect(ofType(events, 'tool.ended').filter(({ depth }) => depth === 0).map(({ data }) => data.outcome.ok)).toEqual([true])
  })

  test('a long result is cut around its id, and the whole stays in the journal (AGT-08)', async () => {
    const long = `${'a'.repeat(20_000)}${'b'.repeat(20_000)}`
    const { cadre, events } = await lab({ script: parentAndChildren([work(1)], () => ({ text: long })) })
    const { output } = await cadre.run({ prompt: 'go' })
    const id = /sa-[0-9a-z]{8}/.exec(output)?.[0]
    expect(output).toContain(`${'a'.repeat(16_000)}\n[… 18000 characters left out: agent_check id=${id} offset=16000]\n${'b'.repeat(6_000)}`)
    expect(ofType(events, 'delegation.ended').find(({ agent }) => agent === id)?.data.result.output).toBe(long)
  })

  test('ignored fields are notes, one each (AGT-02)', async () => {
    const { cadre } = await lab({ script: parentAndChildren([work(1, { team_name: 'x', mode: 'plan', colour: 'red', readOnly: 'true' })], () => ({ text: 'ok' })) })
    const { output } = await cadre.run({ prompt: 'go' })
    expect(output.match(/^Note: .*$/gm)).toEqual(['Note: colour is not supported here and was ignored'])
  })

  test('output_schema: the value is checked, wrong answers go back (AGT-10)', async () => {
    const schema = { type: 'object', properties: { n: { type: 'integer' } }, required: ['n'] }
    const { cadre, events } = await lab({
      script: parentAndChildren([work(1, { output_schema: schema })], ({ turn }) => ({ text: turn === 1 ? 'it is 3' : turn === 2 ? '{"n":"3"}' : '```json\n{"n":3}\n```' })),
    })
    await cadre.run({ prompt: 'go' })
    expect(ofType(events, 'delegation.ended').find(({ depth }) => depth === 1)?.data.result).toMatchObject({ status: 'completed', value: { n: 3 }, turns: 3 })
  })
})

describe('AGT-02, AGT-03: a refusal is a tool error and leaves only its journal entry', () => {
  for (const [input, text] of [
    [{ prompt: 'x' }, 'description is required'],
    [{ description: ' ', prompt: 'x' }, 'description is required'],
    [{ description: 'x', prompt: '\n' }, 'prompt is required'],
    [{ description: 'x', prompt: 'x', readOnly: 'yes' }, 'readOnly must be true or false'],
    [{ description: 'x', prompt: 'x', isolation: 'remote' }, 'isolation must be'],
    [{ description: 'x', prompt: 'x', timeout: -1 }, 'timeout must be'],
    [{ description: 'x', prompt: 'x', subagent_type: 'nobody' }, 'Unknown sub-agent type "nobody". Available: '],
    [{ description: 'x', prompt: 'x', subagent_type: 'verifier' }, 'Unknown sub-agent type "verifier". Available: '],
    [{ description: 'x', prompt: 'x', model: 'gpt-99' }, 'Model "gpt-99" is not allowed in a call; allowed: '],
    [{ description: 'x', prompt: 'x', tools: ['Write'] }, 'No tool is left for general: it asks for Write (in the call); available here: '],
    [{ description: 'x', prompt: 'x', output_schema: 'no schema' }, 'output_schema must be'],
  ] as const) {
    test(`${JSON.stringify(input)} is refused: ${text}`, async () => {
      const { cadre, events } = await lab({ script: parentAndChildren([input], () => ({ text: 'never asked' })) })
      const { output, session } = await cadre.run({ prompt: 'go' })
      expect(output).toContain(`Error: ${text}`)
      expect(ofType(events, 'delegation.refused')).toHaveLength(1)
      expect(cadre.journal.agents(session)).toHaveLength(1)
    })
  }

  test('a full queue refuses in words (KIN-07)', async () => {
    const { cadre } = await lab({
      settings: { limits: { maxRunning: 1, maxQueued: 2 } },
      script: parentAndChildren(numbers(5).map((n) => work(n)), () => ({ text: 'ok', latencyMs: 50 })),
    })
    const { output } = await cadre.run({ prompt: 'go' })
    expect(output.match(/The queue is full \(1 running, 2 queued\)\. Wait for some with agent_wait, then try again\./g)).toHaveLength(2)
    expect(output.match(/Status: completed/g)).toHaveLength(3)
  })
})

describe('GRA-09: an explorer asked to write has no such tool', () => {
  test('write is not offered, and a forged call gets the role refusal', async () => {
    const offered: string[] = []
    const { cadre, events } = await lab({
      script: parentAndChildren([work(1)], (request) => {
        offered.push(JSON.stringify(request.body['tools']))
        return callsThenTells([{ name: 'agent', input: work(2) }, { name: 'no_such_tool', input: {} }, { name: 'read', input: { path: 7 } }, { name: 'Read', input: { path: 'a.txt' } }])(request)
      }),
    })
    const { output } = await cadre.run({ prompt: 'go' })
    expect(offered[0]).not.toContain('"agent"')
    expect(output).toContain('agent is not available to explorer.')
    expect(output).toContain('Unknown tool no_such_tool. Available: read, ls, glob, grep.')
    expect(output).toMatch(/Error: read: path: .*string/)
    expect(output).toContain('1\talpha')
    const refused = ofType(events, 'tool.ended').map(({ data }) => data.outcome).find(({ tool }) => tool === 'agent')
    expect(refused).toMatchObject({ ok: false, source: 'role', text: 'agent is not available to explorer.' })
  })

  test('TOO-02: ../, absolute paths and symlinks out of the root are refused', async () => {
    const { symlinkSync, writeFileSync } = await import('node:fs')
    const { join } = await import('node:path')
    const { cadre, root } = await lab({
      script: parentAndChildren([work(1)], callsThenTells([
        { name: 'read', input: { path: '../secret.txt' } },
        { name: 'read', input: { path: '/etc/passwd' } },
        { name: 'read', input: { path: 'link.txt' } },
        { name: 'grep', input: { pattern: 'hidden', path: 'out' } },
        { name: 'ls', input: { path: '..' } },
        { name: 'glob', input: { pattern: '../*' } },
      ])),
    })
    writeFileSync(join(root, '../secret.txt'), 'hidden')
    symlinkSync('../secret.txt', join(root, 'link.txt'))
    symlinkSync('..', join(root, 'out'))
    const { output } = await cadre.run({ prompt: 'go' })
    expect(output.match(/Path is outside the workspace: /g)).toHaveLength(6)
    expect(output).not.toContain('hidden')
  })
})

describe('MOD-02, MOD-03, MOD-06: the model of a sub-agent', () => {
  test('an unmapped alias runs on the parent\'s model with one note; the result names what the provider says', async () => {
    const { cadre, events } = await lab({ script: parentAndChildren([work(1, { model: 'haiku' })], () => ({ text: 'ok', model: 'gpt-test-2026' })) })
    const { output } = await cadre.run({ prompt: 'go' })
    expect(output).toContain('Sub-agent: part 1 (explorer, openai/gpt-test-2026)')
    expect(output).toMatch(/Note: .*haiku/)
    expect(ofType(events, 'delegation.started').at(-1)?.data.model).toBe('openai/gpt-test')
  })

  test('a mapped alias and CADRE_SUBAGENT_MODEL\'s setting win over the parent\'s', async () => {
    const seen: unknown[] = []
    const { cadre } = await lab({
      settings: { modelAliases: { haiku: 'openai/gpt-small' } },
      script: parentAndChildren([work(1, { model: 'haiku' })], ({ body }) => (seen.push(body['model']), { text: 'ok' })),
    })
    await cadre.run({ prompt: 'go' })
    expect(seen).toEqual(['gpt-small'])
  })

  test('without any model a run ends before anything exists (MOD-04, MOD-09)', async () => {
    const { cadre } = await lab({ settings: { model: null } })
    await expect(cadre.run({ prompt: 'go' })).rejects.toThrow(/^No model is set\. Use --model .*, or set CADRE_MODEL or "model" in settings\./)
    expect(cadre.journal.sessions()).toEqual([])
  })
})

describe('KIN-06, KIN-05: depth, and places lent to children', () => {
  test('agents nested two deep finish with one running place', async () => {
    const { cadre, events } = await lab({
      settings: { limits: { maxRunning: 1 } },
      files: { '.cadre/agents/lead.md': '---\nname: lead\ndescription: delegates\ntools: Read, Agent(explorer)\n---\nYou delegate.\n' },
      script: (request) => {
        if (!holds(request, 'agent')) return { text: `leaf of depth 2, agent offered: ${holds(request, 'agent')}` }
        const isRoot = holds(request, 'blame')
        if (request.turn === 1) return { calls: [{ name: 'agent', input: isRoot ? work(1, { subagent_type: 'lead' }) : work(2) }] }
        return { text: request.toolResults.map(({ text }) => text).join('\n') }
      },
    })
    const result = await cadre.run({ prompt: 'go' })
    expect(result.output).toContain('leaf of depth 2')
    expect(ofType(events, 'delegation.ended').map(({ depth, data }) => [depth, data.result.status])).toEqual([[2, 'completed'], [1, 'completed'], [0, 'completed']])
  })
})

describe('JRN-08: keys are in no event and no result', () => {
  test('even when a provider echoes them', async () => {
    const { cadre, events } = await lab({ script: () => ({ status: 401, text: 'bad key sk-test-openai' }) })
    const result = await cadre.run({ prompt: 'go' })
    expect(result).toMatchObject({ status: 'failed', cause: 'model' })
    expect(JSON.stringify([result, events])).not.toContain('sk-test-openai')
    expect(JSON.stringify([...cadre.journal.events()])).not.toContain('sk-test-openai')
  })
})
