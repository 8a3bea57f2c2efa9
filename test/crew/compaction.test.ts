import { describe, expect, test } from 'vitest'
import type { Orchestrator } from '../../src/api.ts'
import { createOrchestrator } from '../../src/orchestrator.ts'
import { lab, ofType } from '../delegation/lab.ts'
import { openStage } from './stage.ts'
import type { Answer, Script, ScriptRequest } from '../server/provider-server.ts'

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

describe('a message that comes while the history is summed up', () => {
  const FILES = { '.cadre/agents/long.md': '---\nname: long\ndescription: works long\ntools: Read\nautoCompactWindow: 5000\nmaxTurns: 40\n---\nYou work.\n', 'a.txt': 'clay '.repeat(120) }
  const READS = 30
  const word = (n: number): string => `Word ${n}.`

  /** Sums up when told to, and is told something in the middle of it. */
  function interrupted(tell: () => Promise<void>, how: 'grows too long' | 'is refused as too long') {
    let reads = 0
    let refused = how === 'grows too long'
    return async (request: ScriptRequest): Promise<Answer> => {
      if (isSummary(request)) {
        await tell()
        return { text: 'So far: clay.' }
      }
      if (!refused && reads === 12) {
        refused = true
        return { status: 400, text: 'prompt is too long: 205668 tokens > 200000 maximum' }
      }
      reads += 1
      return reads > READS ? { text: 'the end' } : { calls: [{ name: 'read', input: { path: 'a.txt' } }] }
    }
  }

  for (const how of ['grows too long', 'is refused as too long'] as const) {
    test(`is read with the turn that the journal says it was read with, killed after it or not, where the history ${how} (STR-02, JRN-03)`, async () => {
      let living: Orchestrator | null = null
      let told = 0
      const stage = await openStage({
        files: how === 'grows too long' ? FILES : { ...FILES, '.cadre/agents/long.md': FILES['.cadre/agents/long.md'].replace('5000', '500000') },
        script: interrupted(async () => {
          const [agent] = living?.agents.list() ?? []
          if (agent) await living?.agents.send(agent.id, word(told += 1))
        }, how),
      })
      const work = (cadre: Orchestrator) => (living = cadre).run({ prompt: 'work', agent: 'long' })
      let summed = false
      await stage.die(({ type, data }) => {
        if (type === 'turn.started') summed ||= data.summary !== undefined
        return summed && type === 'turn.ended'
      }, work)
      const before = stage.server.requests.length
      expect(told).toBe(1)
      const seen = (request: ScriptRequest | null | undefined) => JSON.stringify(request?.body['messages'] ?? []).split(word(1)).length - 1
      // Live it was shown with the turn, and the next life shows it at the same place: once, never twice, never not at all.
      const live = stage.server.requests.findLast(({ request }) => request && !isSummary(request))
      expect(seen(live?.request)).toBe(1)
      const { cadre } = await stage.open()
      living = cadre
      expect(await cadre.resume({ session: cadre.journal.sessions()[0]?.id ?? '' })).toMatchObject({ status: 'completed', output: 'the end', undelivered: [] })
      const next = stage.server.requests[before]?.request
      if (next && !isSummary(next)) expect(seen(next)).toBe(1)
      const whole = JSON.stringify(cadre.journal.transcript(cadre.journal.agents(cadre.journal.sessions()[0]?.id ?? '')[0]?.id ?? '', { full: true }))
      expect(whole.split(word(1)).length - 1).toBe(1)
    })
  }

  test('is listed as undelivered when the agent is stopped then, and the turn that never began is not counted (STR-03)', async () => {
    let living: Orchestrator | null = null
    const stage = await openStage({
      files: FILES,
      script: interrupted(async () => {
        const [agent] = living?.agents.list() ?? []
        if (!agent) return
        await living?.agents.send(agent.id, word(1))
        await living?.agents.stop(agent.id)
      }, 'grows too long'),
    })
    const { cadre, events } = await stage.open()
    living = cadre
    const result = await cadre.run({ prompt: 'work', agent: 'long' })
    expect(result).toMatchObject({ status: 'killed', undelivered: [word(1)], turns: ofType(events, 'turn.ended').length })
  })
})

test('tokens of a summary nobody could use count once, also after a crash (BUD-06)', async () => {
  const usage = { input: 4_500, output: 10 }
  let turns = 0
  let failed = false
  const stage = await openStage({
    files: { '.cadre/agents/long.md': '---\nname: long\ndescription: works long\ntools: Read\nautoCompactWindow: 5000\nmaxTurns: 40\n---\nYou work.\n', 'a.txt': 'clay '.repeat(120) },
    script(request) {
      if (isSummary(request)) {
        failed = true
        return { text: ' ', usage }
      }
      turns += 1
      return turns > 30 ? { text: 'the end', usage } : { usage, calls: [{ name: 'read', input: { path: 'a.txt' } }] }
    },
  })
  await stage.die(({ type }) => failed && type === 'turn.ended', (cadre) => cadre.run({ prompt: 'work', agent: 'long' }))
  const { cadre } = await stage.open()
  const session = cadre.journal.sessions()[0]?.id ?? ''
  const result = await cadre.resume({ session })
  expect(result).toMatchObject({ status: 'completed', output: 'the end' })
  const lost = [...cadre.journal.events({ session, types: ['usage.lost'] })].length
  expect(lost).toBeGreaterThan(0)
  expect(result.usage.input).toBe(4_500 * (result.turns + lost))
})
