import { describe, expect, test } from 'vitest'

import { holds, lab, ofType, parentAndChildren } from '../delegation/lab.ts'

const FILES = {
  'AGENTS.md': 'Use tabs.\n',
  '.cadre/agents/scribe.md': '---\nname: scribe\ndescription: writes\ntools: Read\nskills: tidy\n---\nWrite.\n',
  '.cadre/agents/plain.md': '---\nname: plain\ndescription: plain\ntools: Read\nomitClaudeMd: true\n---\nBe plain.\n',
  '.cadre/agents/count.md': '---\nname: count\ndescription: counts\nmodel: script\ntools: Read\n---\n```js\nreturn { prompt, input }\n```\n',
  '.cadre/skills/tidy/SKILL.md': 'Tidy up.\n',
}

describe('PRO-01, PRO-02: an agent\'s first request', () => {
  test('holds rules, role, instructions, skills and types in this order, then environment and prompt; equal types get equal bytes (MOD-07)', async () => {
    const inputs = ['scribe', 'scribe', 'plain', 'general'].map((type, i) => ({ description: `job ${i}`, prompt: `Do job ${i}.`, subagent_type: type, ...(type === 'general' && { tools: ['read', 'agent'] }) }))
    const { cadre, events, root } = await lab({ files: FILES, script: parentAndChildren(inputs, () => ({ text: 'done' })) })
    await cadre.run({ prompt: 'go' })
    const [main, ...children] = ofType(events, 'delegation.started').map(({ data }) => data)
    const of = (type: string) => children.filter(({ agentType }) => agentType === type)
    const [first, second] = of('scribe')
    const rules = first?.system.split('\n')[0] ?? ''
    expect(rules).toBe('You are a sub-agent. Your last message is your whole result: complete and short. Nobody answers questions: if blocked, say what you need and stop. Put independent calls in one reply.')
    expect(first?.system).toBe(`${rules}

# Your role: scribe
Write.

# Project instructions: AGENTS.md
Use tabs.

# Skill: tidy (.cadre/skills/tidy/SKILL.md)
Tidy up.`)
    expect(second?.system).toBe(first?.system)
    expect(first?.prompt).toMatch(new RegExp(`^Folder: ${root}\nPlatform: ${process.platform}\nDate: \\d{4}-\\d\\d-\\d\\d\n\nDo job 0\\.$`))
    expect(of('plain')[0]?.system).toBe(`${rules}\n\n# Your role: plain\nBe plain.`)
    expect(of('general')[0]?.system).toMatch(/# Project instructions: AGENTS\.md\nUse tabs\.\n\n# Sub-agents you can start\n- count: counts\n/)
    expect(main?.system).toContain('# Project instructions: AGENTS.md\nUse tabs.')
  })

  test('setting instructions: false leaves them out for all', async () => {
    const inputs = [{ description: 'job', prompt: 'Do it.', subagent_type: 'scribe' }]
    const { cadre, events } = await lab({ files: FILES, script: parentAndChildren(inputs, () => ({ text: 'done' })), settings: { instructions: false } })
    await cadre.run({ prompt: 'go' })
    const started = ofType(events, 'delegation.started')
    expect(started).toHaveLength(2)
    for (const { data } of started) expect(data.system).not.toContain('Use tabs.')
    expect(started[1]?.data.system).toContain('Tidy up.')
  })

  test('a program gets its bare prompt, which it may parse', async () => {
    const inputs = [{ description: 'job', prompt: '{"n":1}', subagent_type: 'count' }]
    const { cadre } = await lab({ files: FILES, script: (request) => (holds(request, 'agent') ? parentAndChildren(inputs, () => ({ text: '' }))(request) : { text: '' }) })
    expect((await cadre.run({ prompt: 'go' })).output).toContain('{"prompt":"{\\"n\\":1}","input":{"n":1}}')
  })
})
