import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import type { ApprovalRequest } from '../../src/core/approval.ts'
import type { JsonObject } from '../../src/core/json.ts'
import { lab, ofType } from '../delegation/lab.ts'
import type { Lab } from '../delegation/lab.ts'
import type { Answer } from '../server/provider-server.ts'
import { skipped } from '../shell/place.ts'
import { cast, openStage, turns } from './stage.ts'

const call = (name: string, input: JsonObject) => ({ name, input })
const calls = (...list: readonly ReturnType<typeof call>[]): Answer => ({ calls: list })
const outcomes = ({ events }: Pick<Lab, 'events'>): readonly string[] => ofType(events, 'tool.ended').map(({ data }) => data.outcome.text)
const inRoot = (place: Pick<Lab, 'root'>, path: string): string => readFileSync(join(place.root, path), 'utf8')
const EDITS = { settings: { permissions: { mode: 'acceptEdits' } } }
const WRITER = '---\nname: writer\ndescription: writes\ntools: Read, Write, Edit, Bash, Agent\n---\nYou write.\n'

describe('TOO-06, TOO-07: an agent changes only what it has seen', () => {
  test('it writes a new file, and edits one that it read', async () => {
    const place = await lab({ ...EDITS, script: turns(
      calls(call('write', { path: 'new/b.txt', content: 'made\n' }), call('read', { path: 'a.txt' })),
      calls(call('edit', { path: 'a.txt', old_string: 'beta', new_string: 'gamma' }), call('edit', { path: 'a.txt', old_string: 'gamma', new_string: 'delta' })),
    ) })
    expect(await place.cadre.run({ prompt: 'go' })).toMatchObject({ status: 'completed' })
    expect([inRoot(place, 'new/b.txt'), inRoot(place, 'a.txt')]).toEqual(['made\n', 'alpha\ndelta\n'])
  })

  test('one it never read is refused, and one that changed since with what changed', async () => {
    const place: Lab = await lab({ ...EDITS, script: turns(
      calls(call('edit', { path: 'a.txt', old_string: 'beta', new_string: 'x' }), call('grep', { pattern: 'beta' })),
      calls(call('edit', { path: 'a.txt', old_string: 'beta', new_string: 'x' })),
      calls(call('read', { path: 'a.txt' })),
      () => {
        writeFileSync(join(place.root, 'a.txt'), 'alpha\nBETA\n')
        return calls(call('write', { path: 'a.txt', content: 'mine\n' }))
      },
    ) })
    await place.cadre.run({ prompt: 'go' })
    const said = outcomes(place)
    expect([said[0], said[2]]).toEqual(['Error: Read a.txt before you change it.', 'Error: Read a.txt before you change it.'])
    expect(said[4]).toMatch(/^Error: a\.txt changed since you read it:\n@@ .*\n alpha\n-beta\n\+BETA/)
    expect(inRoot(place, 'a.txt')).toBe('alpha\nBETA\n')
  })

  test('what it read before an interruption it has seen', async () => {
    const stage = await openStage({ settings: { permissions: { mode: 'acceptEdits' } }, script: turns(calls(call('read', { path: 'a.txt' })), calls(call('edit', { path: 'a.txt', old_string: 'beta', new_string: 'gamma' }))) })
    await stage.die(({ type, data }) => type === 'turn.started' && data.turn === 2, (cadre) => cadre.run({ prompt: 'go' }))
    const { cadre } = await stage.open()
    await cadre.resume({ session: cadre.journal.sessions()[0]?.id ?? '' })
    expect(inRoot(stage, 'a.txt')).toBe('alpha\ngamma\n')
  })
})

describe('PRM: who may do what', () => {
  const write = call('write', { path: 'b.txt', content: 'x' })
  const tried = async (settings: JsonObject, made: ReturnType<typeof call> = write, more: JsonObject = {}) => {
    const place = await lab({ settings, files: { '.cadre/keep': '', ...more as Record<string, string> }, script: turns(calls(made)) })
    await place.cadre.run({ prompt: 'go' })
    return { place, said: outcomes(place)[0], done: existsSync(join(place.root, 'b.txt')) }
  }

  test('by default writing needs an approval nobody here can give (PRM-06)', async () => {
    expect(await tried({})).toMatchObject({ done: false, said: 'Declined: write needs an approval nobody here can give. Work without it or report what you need.' })
  })

  for (const [what, settings, made, ok] of [
    ['a rule allows it', { permissions: { allow: ['Write(b.txt)'] } }, write, true],
    ['a rule allows something else', { permissions: { allow: ['Write(c.txt)'] } }, write, false],
    ['a rule denies it, whatever the mode', { permissions: { mode: 'bypassPermissions', deny: ['Write(b.txt)'] } }, write, false],
    ['plan mode only reads', { permissions: { mode: 'plan' } }, write, false],
    ['dontAsk asks nobody', { permissions: { mode: 'dontAsk' } }, write, false],
    ['acceptEdits lets it write in the root', { permissions: { mode: 'acceptEdits' } }, write, true],
    ['protected folders ask all the same (PRM-05)', { permissions: { mode: 'acceptEdits' } }, call('write', { path: '.cadre/b.txt', content: 'x' }), false],
  ] as const) {
    test(`PRM-01, PRM-03: ${what}`, async () => {
      const { done, place } = await tried(settings, made)
      expect(done || existsSync(join(place.root, '.cadre/b.txt'))).toBe(ok)
    })
  }

  test('reading can be denied too, in the agent\'s own thread', async () => {
    const place = await lab({ settings: { permissions: { deny: ['Read(secret.txt)'] } }, files: { 'secret.txt': 'hush' }, script: turns(calls(call('read', { path: 'secret.txt' }), call('read', { path: 'a.txt' }))) })
    await place.cadre.run({ prompt: 'go' })
    expect(outcomes(place).find((text) => text.includes('denied'))).toContain('Read(secret.txt)')
    expect(JSON.stringify(place.events)).not.toContain('hush')
  })

  test('a delegation that a rule denies is refused before anything exists, in bypassPermissions too (PRM-04)', async () => {
    const place = await lab({ settings: { permissions: { mode: 'bypassPermissions', deny: ['Agent(explorer)'] } }, script: turns(calls(call('agent', { subagent_type: 'Explore', description: 'x', prompt: 'x' }))) })
    await place.cadre.run({ prompt: 'go' })
    expect(outcomes(place)).toEqual(['Delegation to explorer is denied by a rule.'])
    expect(place.events.filter(({ depth }) => depth > 0)).toEqual([])
  })

  test('PRM-07: a grandchild\'s question reaches the host with its path, and its answer the grandchild', async () => {
    const asked: ApprovalRequest[] = []
    const job = (subagent_type: string, prompt: string) => call('agent', { subagent_type, description: prompt, prompt })
    const place = await lab({
      files: { '.cadre/agents/releaser.md': WRITER.replaceAll('writer', 'releaser'), '.cadre/agents/operator.md': WRITER.replaceAll('writer', 'operator') },
      script: cast({ go: turns(calls(job('releaser', 'release'))), release: turns(calls(job('operator', 'operate'))), operate: turns(calls(write, call('write', { path: 'c.txt', content: 'x' }))) }),
      orchestrator: {
        async onApproval(request) {
          asked.push(request)
          return { approved: request.input['path'] === 'b.txt', reason: 'not that one' }
        },
      },
    })
    await place.cadre.run({ prompt: 'go' })
    expect(asked.map(({ agent, tool }) => [agent, tool])).toEqual([['releaser/operator', 'write'], ['releaser/operator', 'write']])
    expect(asked[0]?.id.split('/')).toHaveLength(3)
    expect(asked[0]?.question).toBe('releaser/operator wants to run write: b.txt')
    expect([existsSync(join(place.root, 'b.txt')), existsSync(join(place.root, 'c.txt'))]).toEqual([true, false])
    expect(outcomes(place)).toContain('Declined: write was not approved (not that one). Work without it or report what you need.')
    expect(ofType(place.events, 'approval.answered').map(({ data }) => data.approved)).toEqual([true, false])
  })
})

describe('KIN-04, KIN-05: writers take turns in a root, readers never wait', () => {
  const job = (name: string, more: JsonObject = {}) => call('agent', { description: name, prompt: `You are ${name}.`, subagent_type: 'writer', ...more })

  test('two writers never overlap, and a reader runs beside them', async () => {
    const place = await lab({
      ...EDITS, files: { '.cadre/agents/writer.md': WRITER },
      script: cast({
        go: turns(calls(job('one'), job('two'), job('reader', { subagent_type: 'explorer' }))),
        'You are one.': turns(calls(call('write', { path: 'one.txt', content: '1' }))), 'You are two.': turns(calls(call('write', { path: 'two.txt', content: '2' }))), 'You are reader.': turns(calls(call('ls', {}))),
      }),
    })
    await place.cadre.run({ prompt: 'go' })
    const lives = place.events.filter(({ type, depth }) => depth === 1 && (type === 'delegation.started' || type === 'delegation.ended'))
      .map(({ type, agent, data }) => ({ agent, begins: type === 'delegation.started', type: 'grant' in data ? data.grant.type : '' }))
    const writers = lives.filter(({ type, agent }) => type === 'writer' || lives.some((other) => other.agent === agent && other.type === 'writer'))
    expect(writers.map(({ begins }) => begins)).toEqual([true, false, true, false])
    expect(new Set(writers.map(({ agent }) => agent)).size).toBe(2)
    expect(ofType(place.events, 'delegation.queued').map(({ data }) => data.grant.type)).toEqual(['writer'])
    expect([inRoot(place, 'one.txt'), inRoot(place, 'two.txt')]).toEqual(['1', '2'])
  })

  test('a writer that is blocked on its own writing child lends it the root', async () => {
    const place = await lab({
      ...EDITS, files: { '.cadre/agents/writer.md': WRITER },
      script: cast({ go: turns(calls(job('outer'))), 'You are outer.': turns(calls(job('inner')), calls(call('write', { path: 'outer.txt', content: 'o' }))), 'You are inner.': turns(calls(call('write', { path: 'inner.txt', content: 'i' }))) }),
    })
    expect(await place.cadre.run({ prompt: 'go' })).toMatchObject({ status: 'completed' })
    expect([inRoot(place, 'outer.txt'), inRoot(place, 'inner.txt')]).toEqual(['o', 'i'])
  })

  test('a call of the root run waits for the writer, and says who holds the workspace when that takes too long', async () => {
    const held = Promise.withResolvers<Answer>()
    const place = await lab({
      settings: { permissions: { mode: 'acceptEdits' }, limits: { gateWait: 0.2 } }, files: { '.cadre/agents/writer.md': WRITER },
      script: cast({
        go: turns(calls(job('slow', { run_in_background: true })), calls(call('write', { path: 'b.txt', content: 'x' })), () => {
          held.resolve({ text: 'done' })
          return { text: 'waiting' }
        }),
        'You are slow.': () => held.promise,
      }),
    })
    await place.cadre.run({ prompt: 'go' })
    const [, writer] = ofType(place.events, 'delegation.started')
    expect(outcomes(place)[1]).toBe(`Error: The workspace is held by ${writer?.agent} (slow). Use agent_wait or agent_stop.`)
    expect(existsSync(join(place.root, 'b.txt'))).toBe(false)
  })
})

describe.skipIf(skipped !== null)(`SHL: bash (${skipped ?? 'bubblewrap'})`, () => {
  const bash = (command: string) => call('bash', { command })

  test('runs in the root, and what the mode auto lets through the kernel keeps there', async () => {
    const place = await lab({ settings: { permissions: { mode: 'auto' } }, script: turns(calls(bash('cat a.txt; echo made > b.txt; echo out > ../out.txt; pwd'))) })
    await place.cadre.run({ prompt: 'go' })
    expect(outcomes(place)[0]).toContain(`alpha\nbeta\n`)
    expect(outcomes(place)[0]).toContain('[exit 0]')
    expect(inRoot(place, 'b.txt')).toBe('made\n')
    expect(existsSync(join(place.root, '../out.txt'))).toBe(false)
  })

  test('an explorer that lists Bash has one that only reads, and asks nobody (GRA-06, SHL-02)', async () => {
    const place = await lab({
      files: { '.cadre/agents/looker.md': '---\nname: looker\ndescription: looks\nmode: explore\ntools: Read, Bash\n---\nYou look.\n' },
      script: cast({ go: turns(calls(call('agent', { description: 'look', prompt: 'look', subagent_type: 'looker' }))), look: turns(calls(bash('wc -l < a.txt; echo x > b.txt || echo refused'))) }),
    })
    await place.cadre.run({ prompt: 'go' })
    expect(outcomes(place)[0]).toMatch(/^2\n[\s\S]*refused\n\[exit 0\]$/)
    expect(existsSync(join(place.root, 'b.txt'))).toBe(false)
    expect(ofType(place.events, 'delegation.queued')).toEqual([])
  })

  test('what it leaves in the background is gone with its agent (SHL-06)', async () => {
    const place = await lab({ settings: { permissions: { mode: 'auto' } }, script: turns(calls(bash('(while sleep 0.05; do date >> beat.txt; done) & setsid sh -c "while sleep 0.05; do date >> beat2.txt; done" & sleep 0.3; echo started'))) })
    await place.cadre.run({ prompt: 'go' })
    expect(outcomes(place)[0]).toContain('started')
    const sizes = () => ['beat.txt', 'beat2.txt'].map((path) => inRoot(place, path).length)
    const before = sizes()
    await new Promise((resolve) => setTimeout(resolve, 400))
    expect(sizes()).toEqual(before)
  })
})

describe('PRO-05, GRA-11: memory', () => {
  test('a type with memory is shown its notes and keeps them, whatever tools its lead holds', async () => {
    const place = await lab({
      files: { '.cadre/agents/clerk.md': '---\nname: clerk\ndescription: notes\ntools: Read\nmemory: project\n---\nYou note.\n', '.cadre/agent-memory/clerk/MEMORY.md': 'The key is under the mat.\n' },
      script: cast({ go: turns(calls(call('agent', { description: 'note', prompt: 'note', subagent_type: 'clerk' }))), note: turns(calls(call('memory', { action: 'append', path: 'MEMORY.md', content: 'It rained.\n' }))) }),
      orchestrator: { trusted: true },
    })
    await place.cadre.run({ prompt: 'go', tools: ['Agent', 'Read'] })
    const child = place.server.requests.find(({ request }) => request?.system.includes('You note.'))?.request
    expect(child?.system).toContain('The key is under the mat.')
    expect(inRoot(place, '.cadre/agent-memory/clerk/MEMORY.md')).toBe('The key is under the mat.\nIt rained.\n')
    const [root, clerk] = ofType(place.events, 'delegation.started').map(({ data }) => data.grant.tools.map(({ name }) => name))
    expect([root?.includes('memory'), clerk]).toEqual([false, ['read', 'memory']])
  })
})

test('SHL-04: with the sandbox off, bash asks as what it is, in the mode auto too', async () => {
  const asked: string[] = []
  const place = await lab({
    settings: { sandbox: 'off', permissions: { mode: 'auto' } }, script: turns(calls(call('bash', { command: 'echo free > b.txt' }))),
    orchestrator: {
      async onApproval({ question }) {
        asked.push(question)
        return { approved: true }
      },
    },
  })
  await place.cadre.run({ prompt: 'go' })
  expect(asked).toEqual(['main wants to run unconfined bash: echo free > b.txt'])
  expect(inRoot(place, 'b.txt')).toBe('free\n')
})

test('two writing calls of one reply happen one after the other, in their order', async () => {
  const place = await lab({ ...EDITS, settings: { permissions: { mode: 'bypassPermissions' } }, script: turns(calls(
    call('bash', { command: 'sleep 0.3; echo one >> order.txt' }), call('bash', { command: 'echo two >> order.txt' }),
  )) })
  await place.cadre.run({ prompt: 'go' })
  expect(inRoot(place, 'order.txt')).toBe('one\ntwo\n')
})

test('STR-07, TOO-11: a lead that looks in sees the files written so far, and the list its sub-agent keeps', async () => {
  const held = Promise.withResolvers<Answer>()
  let id = ''
  const place = await lab({
    ...EDITS, files: { '.cadre/agents/writer.md': WRITER.replace('Agent', 'TodoWrite') },
    script: cast({
      go: turns(calls(call('agent', { description: 'w', prompt: 'You work.', subagent_type: 'writer', run_in_background: true })), async (request) => {
        id = /as (sa-\w+)/.exec(request.toolResults[0]?.text ?? '')?.[1] ?? ''
        while (place.events.filter(({ type, depth }) => type === 'turn.started' && depth === 1).length < 2) await new Promise((resolve) => setTimeout(resolve, 20))
        return calls(call('agent_check', { id }))
      }, () => {
        held.resolve({ text: 'done' })
        return { text: 'seen' }
      }),
      'You work.': turns(calls(call('write', { path: 'one.txt', content: '1' }), call('todo', { items: [{ text: 'write one', status: 'done' }, { text: 'write two', status: 'pending' }] })), () => held.promise),
    }),
  })
  await place.cadre.run({ prompt: 'go' })
  const seen = outcomes(place).find((text) => text.startsWith('Sub-agent: w')) ?? ''
  expect(seen).toMatch(/\nFiles written: one\.txt\nIts list:\n- \[x\] write one\n- \[ \] write two$/)
})
