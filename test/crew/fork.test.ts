import { describe, expect, test } from 'vitest'
import type { JsonObject } from '../../src/core/json.ts'
import { isObject } from '../../src/core/json.ts'
import { lab, ofType } from '../delegation/lab.ts'
import type { Lab } from '../delegation/lab.ts'
import type { Answer, Script, ScriptRequest, Wire } from '../server/provider-server.ts'
import { agent, endOf, ends, led, part, says, told, until } from './lead.ts'

const WIRES: readonly Wire[] = ['openai', 'anthropic']
const FORKED = 'From here on you are a sub-agent, forked from the conversation above.'
const DEPTH = 'You cannot delegate further: do this work yourself.'

/** How many forks lie between a request's agent and the root run. */
const level = ({ body }: Pick<ScriptRequest, 'body'>): number => JSON.stringify(body['messages']).split(FORKED).length - 1

const fork = (more: JsonObject = {}): JsonObject => ({ description: 'forked', prompt: 'Think it over.', forkContext: true, ...more })

/** Marks say where a provider may cut its cache; they move on with every request, and what is cached is the text without them. */
const unmarked = (text: string): string => text.replaceAll(/,"cache_control":\{[^}]*\}/g, '')

/** The request's raw text up to the end of its conversation, anchors left out. */
function prefix({ text, body }: { readonly text: string; readonly body: JsonObject }, wire: Wire): string {
  const raw = unmarked(text)
  const messages = unmarked(JSON.stringify(body['messages']))
  const whole = raw.slice(0, raw.indexOf(messages) + messages.length)
  const anchors = /,\{"(?:role":"user","content"|type":"text","text"):"Your sub-agents .*$/.exec(whole)
  // On the anthropic wire the next words of a user go into the message of the last ones.
  return anchors ? whole.slice(0, anchors.index) : whole.slice(0, wire === 'anthropic' ? -3 : -1)
}

const withoutMessages = ({ messages: _messages, ...rest }: JsonObject): string => JSON.stringify(rest)

/** Each fork's first request beside the last one of the agent it was forked from. */
function pairs({ server }: Pick<Lab, 'server'>) {
  const seen = new Set<string>()
  return server.requests.flatMap((child, i) => {
    const [, name = ''] = /Think it over: ([\w ]+)\.$/.exec(child.request?.lastUserText ?? '') ?? []
    const parent = server.requests.slice(0, i).findLast((before) => level(before) === level(child) - 1)
    if (name === '' || !parent || seen.has(name)) return []
    seen.add(name)
    return [{ name, parent, child }]
  })
}

const thinking = (text: string) => ({ reasoning: { text: `I think: ${text}`, signature: `signed ${text}` } })

describe('KIN-02: a fork begins with its parent\'s whole conversation, byte for byte', () => {
  for (const wire of WIRES) {
    for (const tools of ['agent', 'each', 'both'] as const) {
      test(`after reasoning and tools, beside other children, after a notice, and forked again (${wire}, delegation.tools ${tools})`, async () => {
        const turns: readonly ((request: ScriptRequest) => Answer | Promise<Answer>)[] = [
          () => ({ ...thinking('read'), text: 'First I read.', calls: [{ name: 'read', input: { path: 'a.txt' } }, { name: 'ls', input: {} }] }),
          () => ({ ...thinking('fork'), text: 'Now two heads.', calls: [agent(fork({ prompt: 'Think it over: plain.' })), { name: 'ls', input: {} }] }),
          () => ({ calls: [agent(part(1, { run_in_background: true }))] }),
          () => ({ ...thinking('again'), calls: [agent(fork({ prompt: 'Think it over: beside a child.', forkContext: false, subagent_type: 'fork' }))] }),
          () => ({ calls: [{ name: 'agent_check', input: {} }] }),
          () => ({ calls: [agent(fork({ prompt: 'Think it over: after a notice.', tools: ['Read', 'Agent'] }))] }),
        ]
        const { cadre, server, events } = await lab({
          wire,
          settings: { delegation: { tools }, limits: { maxDepth: 2 } },
          script: async (request) => {
            if (says(request, 'Look at part 1.') && !says(request, 'First I read.')) return { text: 'looked' }
            if (level(request) === 0) {
              if (request.turn === 5) await until(() => ends(events).some(({ title }) => title === 'part 1'))
              return turns[request.turn - 1]?.(request) ?? { text: 'done' }
            }
            if (level(request) === 2) return { text: 'a fork of a fork' }
            if (says(request, 'I go alone.') || says(request, 'I fork again.')) return { text: 'a fork' }
            if (!request.lastUserText.endsWith('Think it over: after a notice.')) return { ...thinking('alone'), text: 'I go alone.', calls: [{ name: 'read', input: { path: 'a.txt' } }] }
            return { ...thinking('deeper'), text: 'I fork again.', calls: [{ name: 'read', input: { path: 'a.txt' } }, agent(fork({ prompt: 'Think it over: forked again.', tools: ['Read'] }))] }
          },
        })
        const result = await cadre.run({ prompt: 'go' })
        expect(result).toMatchObject({ status: 'completed', output: 'done' })
        expect(ends(events).map(({ status }) => status)).toEqual(Array(5).fill('completed'))
        const found = pairs({ server })
        expect(found.map(({ name }) => name)).toEqual(['plain', 'beside a child', 'after a notice', 'forked again'])
        for (const { parent, child, name } of found) {
          const begun = prefix(parent, wire)
          expect(begun.length, name).toBeGreaterThan(100)
          expect(unmarked(child.text).startsWith(begun), name).toBe(true)
          expect(withoutMessages(child.body), name).toBe(withoutMessages(parent.body))
        }
        expect(found[2]?.child.text).toContain('<task-notification>')
        expect(found[0]?.child.text).toContain(wire === 'anthropic' ? 'signed read' : 'First I read.')
      })
    }
  }

  for (const wire of WIRES) {
    test(`after its parent's older turns became a summary (PRO-08, ${wire})`, async () => {
      let reads = 0
      const { cadre, server, events } = await lab({
        wire,
        files: {
          '.cadre/agents/long.md': '---\nname: long\ndescription: d\ntools: Read, Agent\nautoCompactWindow: 100000\nmaxTurns: 40\n---\nYou work.\n',
          'a.txt': `${'x'.repeat(70)}\n`.repeat(300),
        },
        script: (request) => {
          if (request.system.includes('Write the summary')) return { text: 'So far: read it many times.' }
          if (level(request) > 0 || reads > 20) return { text: 'the end' }
          reads += 1
          return reads > 20 ? { calls: [agent(fork({ prompt: 'Think it over: after a summary.' }))] } : { calls: [{ name: 'read', input: { path: 'a.txt', limit: 300 - reads } }] }
        },
      })
      expect((await cadre.run({ prompt: 'work', agent: 'long' })).status).toBe('completed')
      const [pair] = pairs({ server })
      expect(pair && unmarked(pair.child.text).startsWith(prefix(pair.parent, wire))).toBe(true)
      expect(pair?.child.text).toContain('So far: read it many times.')
      expect(ofType(events, 'turn.started').filter(({ depth, data }) => depth === 1 && data.summary)).toEqual([])
    })
  }

  test('whatever its type and its call say: model, effort and cache time are the parent\'s, with a note for what the call named', async () => {
    const { cadre, server, events } = await lab({
      wire: 'anthropic',
      files: { '.cadre/agents/deep.md': '---\nname: deep\ndescription: d\ntools: Read\nmodel: claude-other\neffort: high\nexperimental: {cacheTtl: 1h}\n---\nYou are deep.\n' },
      script: forked([agent(fork({ subagent_type: 'deep', model: 'no such model', effort: 'low', prompt: 'Think it over: named.' }))], () => ({ text: 'thought', usage: { input: 2, output: 1 } })),
    })
    await cadre.run({ prompt: 'go' })
    const [first, second] = server.requests
    expect(withoutMessages(second?.body ?? {})).toBe(withoutMessages(first?.body ?? {}))
    expect(endOf(events, 'forked')).toMatchObject({ agentType: 'deep', status: 'completed' })
    expect(told({ events })).toEqual([[
      'Agent id: <id>', 'Sub-agent: forked (deep, anthropic/claude-test)', 'Status: completed', 'Turns: 1  Tool calls: 0  Tokens: 3  Cost: $0.0000  Time: <n> s',
      'Note: model was ignored: a fork keeps its parent\'s', 'Note: effort was ignored: a fork keeps its parent\'s', 'Output:', 'thought',
    ].join('\n')])
  })

  test('what it may call is its own grant, and it is told which', async () => {
    const { cadre, server, events } = await lab({
      script: forked([agent(fork({ tools: ['Read', 'Grep'] }))], (request) => (request.turn === 1
        ? { calls: [{ name: 'ls', input: {} }, { name: 'read', input: { path: 'a.txt' } }, agent(part(1)), { name: 'agent_check', input: {} }] }
        : { text: request.toolResults.map(({ text }) => text).join('\n') })),
    })
    await cadre.run({ prompt: 'go' })
    expect(endOf(events, 'forked').output).toBe([
      'ls is not available to general.', '1\talpha', '2\tbeta', 'agent is not available to general.', 'agent_check is not available to general.',
    ].join('\n'))
    expect(server.requests[1]?.request?.lastUserText).toContain(`${FORKED} Your last message is your whole result: complete and short. Nobody answers questions: if blocked, say what you need and stop.\nYou may use: read, grep.\n\nThink it over.`)
  })

  test('KIN-06: at the depth limit it is told so, and so is a forced call', async () => {
    const { cadre, server, events } = await lab({
      settings: { limits: { maxDepth: 1 } },
      script: forked([agent(fork({ tools: ['Read', 'Agent'] }))], (request) => (request.turn === 1 ? { calls: [agent(part(1)), agent(fork())] } : { text: request.toolResults.map(({ text }) => text).join('\n') })),
    })
    await cadre.run({ prompt: 'go' })
    expect(server.requests[1]?.request?.lastUserText).toContain(`You may use: read. ${DEPTH}\n`)
    expect(endOf(events, 'forked').output).toBe(`Error: ${DEPTH}\nError: ${DEPTH}`)
    expect(ofType(events, 'delegation.refused').map(({ depth, data }) => [depth, data.reason])).toEqual([[1, DEPTH], [1, DEPTH]])
  })

  test('a program has no conversation to fork, and cannot go on with one', async () => {
    const program = (name: string, text: string) => `---\nname: ${name}\ndescription: d\nmodel: script\ntools: Read, Agent\n---\n\`\`\`js\n${text}\n\`\`\`\n`
    const { cadre, events } = await lab({
      orchestrator: { trusted: true },
      files: {
        '.cadre/agents/forks.md': program('forks', 'try { await tools.agent({description: "x", prompt: "x", forkContext: true}) } catch (error) { return error.message }'),
        '.cadre/agents/idle.md': program('idle', 'return 1'),
      },
      script: led([{ calls: [agent(part(1, { subagent_type: 'forks' })), agent(fork({ subagent_type: 'idle' }))] }]),
    })
    await cadre.run({ prompt: 'go' })
    expect(endOf(events, 'part 1').output).toContain('forkContext needs a conversation, and a program has none. Drop it.')
    expect(told({ events })[1]).toBe('Error: forkContext needs a language model, and idle runs a program. Drop it, or choose another type.')
  })
})

test('KIN-02: a fresh child begins with its prompt only', async () => {
  const { cadre, server } = await lab({
    script: led([{ text: 'the parent\'s own words', calls: [{ name: 'ls', input: {} }] }, { calls: [agent(part(1))] }]),
  })
  await cadre.run({ prompt: 'the user\'s own words' })
  const child = server.requests.find((request) => request.request?.task === 'Look at part 1.')
  const messages = (Array.isArray(child?.body['messages']) ? child.body['messages'] : []).filter(isObject)
  expect(messages.map(({ role }) => role)).toEqual(['system', 'user'])
  expect(child?.text).not.toContain('own words')
})

/** A root run that makes these calls and stops; whoever was forked follows `child`. */
function forked(calls: NonNullable<Answer['calls']>, child: Script): Script {
  return (request) => {
    if (level(request) > 0) return child(request)
    return request.turn === 1 ? { calls } : { text: 'done' }
  }
}
