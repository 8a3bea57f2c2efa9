import { describe, expect, test } from 'vitest'
import type { Message } from '../../src/core/contract.ts'
import type { Script, ScriptRequest } from '../server/provider-server.ts'
import { holds, lab, ofType } from './lab.ts'

/** A type whose window holds about 20 reads of a file of 600 characters. */
const FILES = {
  '.cadre/agents/digger.md': '---\nname: digger\ndescription: digs\ntools: Read\nautoCompactWindow: 5000\n---\nDig.\n',
  'clay.txt': `${'clay '.repeat(120)}\n`,
}

const asksForSummary = ({ system }: ScriptRequest): boolean => system.includes('Write the summary that will replace its older part')

const replies = (messages: readonly Message[]): number => messages.filter(({ role }) => role === 'assistant').length

/** A parent that starts a digger, then continues it if told to; the digger reads so often in each of its runs, and sums up as told. */
function dig(options: { readonly reads: readonly number[]; readonly summary?: string; readonly refuse?: (request: ScriptRequest) => boolean }): Script {
  let run = 0
  let reads = 0
  let child = ''
  return (request) => {
    if (holds(request, 'agent')) {
      child ||= /Agent id: (sa-\w+)/.exec(request.toolResults.map(({ text }) => text).join('\n'))?.[1] ?? ''
      if (request.turn > options.reads.length) return { text: request.toolResults.map(({ text }) => text).join('\n') }
      run = request.turn - 1
      reads = 0
      const input = run === 0 ? { description: 'dig', prompt: 'Dig deep.', subagent_type: 'digger' } : { prompt: 'Dig on.', continue: child }
      return { calls: [{ name: 'agent', input }] }
    }
    if (asksForSummary(request)) return { text: options.summary ?? 'There is clay.' }
    if (options.refuse?.(request)) return { status: 400, text: 'prompt is too long: 205668 tokens > 200000 maximum' }
    reads += 1
    return reads > (options.reads[run] ?? 0) ? { text: `done after ${reads - 1} reads` } : { calls: [{ name: 'read', input: { path: 'clay.txt' } }] }
  }
}

describe('PRO-08: an agent whose history grows too long', () => {
  for (const wire of ['openai', 'anthropic'] as const) {
    test(`goes on from a summary, over ${wire}'s wire: task and last ten turns whole, the journal as its model sees it, and the cost counted`, async () => {
      const { cadre, server, events } = await lab({ wire, files: FILES, script: dig({ reads: [30] }) })
      const result = await cadre.run({ prompt: 'go' })
      expect(result.output).toContain('Status: completed')
      expect(result.output).toContain('done after 30 reads')
      const [, started] = ofType(events, 'delegation.started')
      const child = started?.agent ?? ''
      const summaries = ofType(events, 'turn.started').flatMap(({ agent, data }) => (agent === child && data.summary ? [{ turn: data.turn, ...data.summary }] : []))
      expect(summaries.length).toBeGreaterThan(0)
      for (const { turn, turns } of summaries) expect(turn - 1 - turns).toBe(10)
      const seen = cadre.journal.transcript(child)
      expect(seen[0]).toEqual({ role: 'user', text: started?.data.prompt })
      expect(seen[1]).toEqual({ role: 'user', text: expect.stringContaining('There is clay.'), synthetic: 'summary' })
      expect(replies(seen)).toBe(31 - (summaries.at(-1)?.turns ?? 0))
      expect(replies(cadre.journal.transcript(child, { full: true }))).toBe(31)
      const asked = server.requests.flatMap(({ request }) => (request && !holds(request, 'agent') ? [request] : []))
      expect(asked.filter(asksForSummary)).toHaveLength(summaries.length)
      const last = asked.at(-1)
      expect(JSON.stringify(last?.body).match(/There is clay\./g)).toHaveLength(1)
      const spent = [...ofType(events, 'turn.ended').filter(({ agent }) => agent === child).map(({ data }) => data.reply.usage), ...summaries.map(({ usage }) => usage)]
      const [ended] = ofType(events, 'delegation.ended').filter(({ agent }) => agent === child)
      expect(ended?.data.result.usage.input).toBe(spent.reduce((sum, { input }) => sum + input, 0))
      expect(ended?.data.result.turns).toBe(31)
    })
  }

  test('in a continued agent the conversation it goes on with is summed up before its own turns are', async () => {
    const { cadre, events } = await lab({ files: FILES, script: dig({ reads: [16, 8] }) })
    const result = await cadre.run({ prompt: 'go' })
    expect(result.output).toContain('done after 8 reads')
    const [, , second] = ofType(events, 'delegation.started')
    const summaries = ofType(events, 'turn.started').flatMap(({ agent, data }) => (agent === second?.agent && data.summary ? [data.summary] : []))
    expect(summaries).toEqual([expect.objectContaining({ turns: 0, origin: true })])
    const seen = cadre.journal.transcript(second?.agent ?? '')
    expect(seen.slice(0, 3).map((message) => (message.role === 'user' ? message.synthetic ?? 'asked' : message.role))).toEqual(['asked', 'asked', 'summary'])
    expect(seen[0]).toMatchObject({ text: expect.stringContaining('Dig deep.') })
    expect(seen[1]).toMatchObject({ text: expect.stringContaining('Dig on.') })
    expect(replies(seen)).toBe(9)
  })

  test('a model that says it is too long before we think so gets a shorter history once', async () => {
    const refuse = ({ body }: ScriptRequest) => JSON.stringify(body).length > 12_000
    const { cadre, events } = await lab({ files: { ...FILES, '.cadre/agents/digger.md': FILES['.cadre/agents/digger.md'].replace('autoCompactWindow: 5000\n', '') }, script: dig({ reads: [20], refuse }) })
    const result = await cadre.run({ prompt: 'go' })
    expect(result.output).toContain('done after 20 reads')
    expect(ofType(events, 'turn.started').filter(({ data }) => data.summary).length).toBeGreaterThan(0)
  })

  test('a summary that comes back empty loses nothing: the agent goes on with all of it, and its result says so', async () => {
    const { cadre, events, server } = await lab({ files: FILES, script: dig({ reads: [26], summary: ' ' }) })
    const result = await cadre.run({ prompt: 'go' })
    expect(result.output).toContain('done after 26 reads')
    expect(result.output.match(/Note: Its history is long and could not be summed up/g)).toHaveLength(1)
    const [, started] = ofType(events, 'delegation.started')
    expect(replies(cadre.journal.transcript(started?.agent ?? ''))).toBe(27)
    expect(server.requests.filter(({ request }) => request && asksForSummary(request)).length).toBeGreaterThan(0)
  })
})
