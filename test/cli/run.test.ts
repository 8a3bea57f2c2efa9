import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { SCENARIOS } from '../server/scenarios.ts'
import { startProviderServer } from '../server/provider-server.ts'
import type { Script } from '../server/provider-server.ts'
import { cliPlace } from './place.ts'

async function place(script: Script, files: Readonly<Record<string, string>> = {}) {
  const server = await startProviderServer({ script })
  onTestFinished(() => server.close())
  const here = cliPlace({ 'project/package.json': '{}\n', ...files })
  const env = { OPENAI_BASE_URL: `${server.url}/v1`, OPENAI_API_KEY: 'sk-test', CADRE_MODEL: 'openai/scripted-model' }
  return { ...here, server, ask: (args: readonly string[], stdin?: string) => here.cadre(args, { env, ...(stdin !== undefined && { stdin }) }) }
}

const fanout: Script = (request) => SCENARIOS['fanout']?.script(request) ?? {}

describe('CMD-01, CMD-02: cadre -p', () => {
  test('text prints the answer only; json one object with its session; stream-json one event a line', async () => {
    const { ask } = await place(fanout)
    const plain = await ask(['-p', 'Split this.'])
    expect([plain.code, plain.stderr]).toEqual([0, ''])
    expect(plain.stdout).toMatch(/^8 sub-agents answered:\n(Agent id: sa-[0-9a-z]{8}\n){8}$/)

    const json = JSON.parse((await ask(['-p', 'Split this.', '--output-format', 'json'])).stdout) as Record<string, unknown>
    expect(json).toMatchObject({ status: 'completed', cause: null, success: true, turns: 2, toolCalls: 8, error: null, worktree: null, undelivered: [] })
    expect(json['session']).toMatch(/^ss-[0-9a-z]{8}$/)

    const stream = (await ask(['-p', 'Split this.', '--output-format', 'stream-json'])).stdout.trim().split('\n').map((line) => JSON.parse(line) as Record<string, unknown>)
    expect(stream[0]).toMatchObject({ v: 1, type: 'session.started', depth: 0, parent: null })
    expect(stream.at(-1)).toMatchObject({ type: 'session.ended' })
    expect(stream.filter(({ type }) => type === 'delegation.ended')).toHaveLength(9)
    expect(new Set(stream.flatMap((event) => Object.keys(event)))).toEqual(new Set(['v', 'seq', 'time', 'session', 'root', 'agent', 'parent', 'depth', 'type', 'data']))
  })

  test('the prompt may stand on stdin, with and without -p', async () => {
    const { ask } = await place(({ task }) => ({ text: `heard ${task}` }))
    expect((await ask(['-p'], 'from a pipe\n')).stdout).toBe('heard from a pipe\n')
    expect((await ask([], 'also from a pipe\n')).stdout).toBe('heard also from a pipe\n')
    expect(await ask(['-p'], '')).toMatchObject({ code: 2, stdout: '' })
  })

  test('--verbose tells tool calls and sub-agents on stderr', async () => {
    const { ask } = await place(fanout)
    const { stderr } = await ask(['-p', 'Split this.', '--verbose'])
    expect(stderr).toContain('▸ explorer: part 1')
    expect(stderr).toContain('✓ explorer: part 8')
    expect(stderr).toContain('read {"path":"package.json"')
  })
})

test('SET-03: CADRE_TRACE=1 tells every journaled event on stderr, and nothing else on stdout; CADRE_PROFILE writes where the time went', async () => {
  const { cadre, env, root, server } = await place(({ task }) => ({ text: task }))
  const run = await cadre(['-p', 'hello'], { env: { ...env, CADRE_TRACE: '1', CADRE_PROFILE: 'profile.json', OPENAI_BASE_URL: `${server.url}/v1`, OPENAI_API_KEY: 'sk-test', CADRE_MODEL: 'openai/scripted-model' } })
  expect(run.stdout).toBe('hello\n')
  expect(run.stderr.trim().split('\n').map((line) => (JSON.parse(line) as { type: string }).type)).toEqual([
    'session.started', 'delegation.started', 'turn.started', 'turn.ended', 'delegation.ended', 'session.ended',
  ])
  const { traceEvents } = JSON.parse(readFileSync(join(root, 'profile.json'), 'utf8')) as { traceEvents: { ph: string; name: string }[] }
  expect(traceEvents.filter(({ ph }) => ph === 'X').map(({ name }) => name)).toEqual(['turn 1', 'hello'])
  const written = readFileSync(join(root, 'profile.json'), 'utf8')
  await cadre(['sessions', 'list'], { env: { CADRE_PROFILE: 'profile.json' } })
  expect(readFileSync(join(root, 'profile.json'), 'utf8')).toBe(written) // a command without a session has nothing to say
  for (const [place, why] of [['no/such/folder.json', /ENOENT/], ['.', /no regular file/]] as const) {
    const refused = await cadre(['sessions', 'list'], { env: { CADRE_PROFILE: place } })
    expect([refused.code, refused.stderr]).toEqual([2, expect.stringMatching(/^cadre: CADRE_PROFILE names .*, which cannot be written: .*\n$/)])
    expect(refused.stderr).toMatch(why)
  }
})

describe('CMD-03: exit codes', () => {
  for (const [status, code, args, script] of [
    ['failed', 1, [], () => ({ status: 400, text: 'no such model' })],
    ['partial', 3, ['--max-turns', '1'], () => ({ text: 'so far', calls: [{ name: 'ls', input: {} }] })],
  ] as const) {
    test(`${status} is ${code}, with the reason on stderr and the output so far on stdout`, async () => {
      const { ask } = await place(script)
      const run = await ask(['-p', 'go', ...args])
      expect(run.code).toBe(code)
      expect(run.stderr).toContain(`cadre: ${status} (`)
      expect(run.stdout).toBe(status === 'partial' ? 'so far\n' : '')
    })
  }

  test('MOD-04, MOD-09: with no key and no model one message says what to set, and exits with 2', async () => {
    const run = await cliPlace().cadre(['-p', 'hello'], { env: { CADRE_MODEL: '' } })
    expect([run.code, run.stdout]).toEqual([2, ''])
    expect(run.stderr).toMatch(/^cadre: No model is set\. Use --model .+, or set CADRE_MODEL or "model" in settings\..*\n$/)
  })

  test('an unknown flag, model provider or agent type names what there is', async () => {
    const { ask } = await place(fanout)
    for (const [args, said] of [
      [['-p', 'x', '--modle', 'y'], '--model'],
      [['-p', 'x', '--model', 'nowhere/y'], 'Unknown provider "nowhere". Known: '],
      [['-p', 'x', '--agent', 'explorr'], 'Unknown sub-agent type "explorr". Available: '],
      [['-p', 'x', '--agents', '{'], 'It is not JSON'],
      [['-p', 'x', '--schema', 'none.json'], 'none.json'],
      [['-p', 'x', '--tools', 'Write', '--agent', 'explorer'], 'No tool is left for explorer: it asks for read, ls, glob, grep; available here: write.'],
    ] as const) {
      const run = await ask(args)
      expect([args, run.code, run.stdout]).toEqual([args, 2, ''])
      expect(run.stderr).toContain(said)
    }
  })
})

describe('TYP-14, TYP-18: --agent and --agents', () => {
  test('a type given on the command line runs as the main agent, its initialPrompt before the prompt', async () => {
    const { ask, server } = await place(({ task }) => ({ text: task }))
    const types = JSON.stringify({ greeter: { description: 'greets', prompt: 'You greet.', initialPrompt: 'Be brief.', tools: 'Read' } })
    expect((await ask(['-p', 'Say hello', '--agent', 'greeter', '--agents', types])).stdout).toBe('Be brief.\n\nSay hello\n')
    expect(server.requests[0]?.request?.system).toContain('# Your role: greeter\nYou greet.')
    expect(JSON.stringify(server.requests[0]?.body['tools'])).toMatch(/"read"/)
    expect(JSON.stringify(server.requests[0]?.body['tools'])).not.toMatch(/"agent"|"grep"/)
  })

  test('a program runs as the main agent, without any model', async () => {
    const { cadre } = cliPlace({ 'project/.cadre/agents/shout.md': '---\nname: shout\ndescription: d\nmodel: script\ntools: Read\n---\n```js\nreturn prompt.toUpperCase()\n```\n' })
    expect(await cadre(['-p', 'quiet', '--agent', 'shout'])).toMatchObject({ code: 0, stdout: 'QUIET\n' })
  })

  test('a program\'s findings are lines a person can read, its other values JSON', async () => {
    const program = (body: string) => `---\nname: tells\ndescription: d\nmodel: script\ntools: Read\n---\n\`\`\`js\n${body}\n\`\`\`\n`
    const found = cliPlace({ 'project/.cadre/agents/tells.md': program('return { findings: [{ file: "b.ts", line: 2, message: "two" }, { file: "a.ts", message: "one" }], summary: "2 in all" }') })
    expect((await found.cadre(['-p', 'x', '--agent', 'tells'])).stdout).toBe('a.ts: one\nb.ts:2: two\n\n2 in all\n')
    const other = cliPlace({ 'project/.cadre/agents/tells.md': program('return { a: [1] }') })
    expect((await other.cadre(['-p', 'x', '--agent', 'tells'])).stdout).toBe('{\n  "a": [\n    1\n  ]\n}\n')
  })
})
