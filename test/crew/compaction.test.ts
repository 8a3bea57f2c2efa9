import { describe, expect, test } from 'vitest'
import { createOrchestrator } from '../../src/orchestrator.ts'
import { lab, ofType } from '../delegation/lab.ts'
import type { Script, ScriptRequest } from '../server/provider-server.ts'

const isSummary = ({ system }: ScriptRequest): boolean => system.includes('Write the summary')

/** A model that reads a long file, once a turn for so many turns, and sums up when asked. */
const longRun = (turns: number): Script => {
  let done = 0
  return (request) => {
    if (isSummary(request)) return { text: 'So far: read a.txt many times.' }
    done += 1
    return done > turns ? { text: 'the end' } : { text: `turn ${done}`, calls: [{ name: 'read', input: { path: 'a.txt', limit: 300 - done } }] }
  }
}

/** 20 KB: some 5,000 tokens each time. */
const LONG_FILE = `${'x'.repeat(70)}\n`.repeat(300)

describe('PRO-08: a history that grows beyond the window is summed up, and goes on', () => {
  const TYPE = '---\nname: long\ndescription: works long\ntools: Read\nautoCompactWindow: 100000\nmaxTurns: 40\n---\nYou work.\n'

  for (const wire of ['anthropic', 'openai'] as const) {
    test(`the beginning and the last ten turns stay, the transcript shows what the model sees, and the whole is kept (${wire})`, async () => {
      const { cadre, server, events } = await lab({ wire, files: { '.cadre/agents/long.md': TYPE, 'a.txt': LONG_FILE }, script: longRun(20) })
      const result = await cadre.run({ prompt: 'work for long', agent: 'long' })
      expect(result).toMatchObject({ status: 'completed', output: 'the end' })
      const summaries = ofType(events, 'turn.started').flatMap(({ data }) => data.summary ?? [])
      expect(summaries.length).toBeGreaterThan(0)
      const last = server.requests.at(-1)?.request
      const texts = JSON.stringify(last?.body['messages'])
      expect(texts).toContain('work for long')
      expect(texts).toContain('So far: read a.txt many times.')
      for (let turn = 11; turn <= 20; turn += 1) expect(texts).toContain(`turn ${turn}`)
      expect(texts).not.toContain('turn 2"')
      const shown = cadre.journal.transcript(result.agentId)
      const whole = cadre.journal.transcript(result.agentId, { full: true })
      expect(shown.filter(({ role }) => role === 'assistant').length).toBeLessThan(whole.filter(({ role }) => role === 'assistant').length)
      expect(result.usage.input).toBeGreaterThanOrEqual(summaries.reduce((sum, { usage }) => sum + usage.input, 0))
    })
  }

  test('a resumed session goes on from the summary, not from the whole (JRN-03)', async () => {
    const { cadre, server, root, home } = await lab({ wire: 'anthropic', files: { '.cadre/agents/long.md': TYPE, 'a.txt': LONG_FILE }, script: longRun(20) })
    const { session } = await cadre.run({ prompt: 'work for long', agent: 'long' })
    await cadre.close()
    const again = await createOrchestrator({
      root, cwd: root, watch: false,
      env: { PATH: process.env['PATH'], HOME: home, CADRE_HOME: home, ANTHROPIC_API_KEY: 'k', ANTHROPIC_BASE_URL: server.url },
      settings: { model: 'anthropic/claude-test' },
    })
    try {
      await again.resume({ session, prompt: 'and now?' })
      const sent = JSON.stringify(server.requests.at(-1)?.body['messages'])
      for (const text of ['work for long', 'So far: read a.txt many times.', 'turn 20', 'the end', 'and now?']) expect(sent).toContain(text)
      expect(sent).not.toContain('turn 2"')
    } finally {
      await again.close()
    }
  })
})
