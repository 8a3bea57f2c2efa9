import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import type { Orchestrator } from '../../src/api.ts'
import { CadreError } from '../../src/core/errors.ts'
import type { CadreEvent } from '../../src/core/events.ts'
import type { JsonObject } from '../../src/core/json.ts'
import { BUILT } from '../built.ts'
import { ofType } from '../delegation/lab.ts'
import type { ScriptRequest } from '../server/provider-server.ts'
import type { Life } from './crash/life.ts'
import { cast, openStage, turns, userTexts } from './stage.ts'

const ROOT = 'Lead.'
const agent = (name: string, more: JsonObject = {}) =>
  ({ name: 'agent', input: { description: name, prompt: promptOf(name), subagent_type: 'explorer', ...more } })
const inBackground = (name: string, more: JsonObject = {}) => agent(name, { run_in_background: true, ...more })
const promptOf = (name: string): string => `You are ${name}.`
const READ = { calls: [{ name: 'read', input: { path: 'a.txt' } }] }
const run = (cadre: Orchestrator) => cadre.run({ prompt: ROOT })
const sessionOf = (cadre: Orchestrator): string => cadre.journal.sessions()[0]?.id ?? ''
const resume = (cadre: Orchestrator, more: { readonly prompt?: string } = {}) => cadre.resume({ session: sessionOf(cadre), ...more })

/** The agent of this title, in events that hold its start. */
const idOf = (events: readonly CadreEvent[], title: string): string => {
  const start = events.find(({ type, data }) => (type === 'delegation.queued' || type === 'delegation.started') && data.title === title)
  return start?.agent ?? 'nobody'
}

const startsOf = (events: readonly CadreEvent[], title: string) => ofType(events, 'delegation.started').filter(({ data }) => data.title === title)
const endOf = (events: readonly CadreEvent[], title: string) => ofType(events, 'delegation.ended').find(({ data }) => data.result.title === title)?.data.result
const outcomesOf = (events: readonly CadreEvent[], tool: string) => ofType(events, 'tool.ended').filter(({ data }) => data.outcome.tool === tool).map(({ data }) => data.outcome)

const GOES_ON = 'This session was interrupted and goes on.'
const IN_DOUBT = 'Error: Outcome unknown: the process ended during this call. Check the state before you repeat it.'

/** The last request of the agent with this prompt. */
const lastOf = (requests: readonly { readonly request: ScriptRequest | null }[], prompt: string): ScriptRequest => {
  const found = requests.findLast(({ request }) => request && userTexts(request)[0]?.endsWith(prompt))?.request
  if (!found) throw new Error(`Nobody asked for ${prompt}`)
  return found
}

/** A root run that starts these and then says what it heard last. */
const lead = (...calls: readonly ReturnType<typeof agent>[]) => turns({ calls }, ({ lastUserText, toolResults }) => ({ text: toolResults[0]?.text ?? lastUserText }))

describe('JRN-05: an agent that was interrupted goes on with all it had', () => {
  const TYPE = '.cadre/agents/careful.md'
  const typeFile = (more: string) => `---\nname: careful\ndescription: looks with care\n${more}`

  test('its type version, model, effort, grant, prompt, limits, folder and depth, whatever has become of its file', async () => {
    const stage = await openStage({
      files: { [TYPE]: typeFile('tools: read, ls\nmodel: openai/gpt-careful\neffort: high\nmaxTurns: 7\ntimeout: 900\n---\n\nVersion one.\n') },
      script: cast({ [ROOT]: lead(agent('one', { subagent_type: 'careful', tools: ['read'], max_turns: 5 })), [promptOf('one')]: turns(READ, READ, { text: 'seen' }) }),
      orchestrator: { trusted: true },
    })
    const before = await stage.die(({ type, depth }) => type === 'tool.ended' && depth === 1, run)
    const asked = stage.server.requests.length
    writeFileSync(join(stage.root, TYPE), typeFile('tools: ls\nmodel: openai/gpt-other\neffort: low\nmaxTurns: 1\n---\n\nVersion two.\n'))
    const { cadre, events } = await stage.open()
    expect(await resume(cadre)).toMatchObject({ status: 'completed' })

    const [old] = startsOf(before, 'one')
    const [again] = startsOf(events, 'one')
    expect(again).toMatchObject({ agent: old?.agent, parent: old?.parent, session: old?.session, depth: 1, data: old?.data })
    expect(old?.data).toMatchObject({ cwd: stage.root, model: 'openai/gpt-careful', frozen: { effort: 'high' }, grant: { tools: [{ name: 'read' }], limits: { maxTurns: 5, timeout: 900 } } })
    const first = lastOf(stage.server.requests.slice(0, asked), promptOf('one'))
    const last = lastOf(stage.server.requests, promptOf('one'))
    expect(last.system).toContain('Version one.')
    for (const field of ['model', 'reasoning_effort', 'tools']) expect(last.body[field]).toEqual(first.body[field])
    expect(first.body).toMatchObject({ model: 'gpt-careful', reasoning_effort: 'high' })
  })

  test('the money it has spent counts once, and so do its turns, calls and time', async () => {
    const usage = { input: 100, output: 10 }
    const stage = await openStage({
      settings: { prices: { 'openai/gpt-test': { input: 1000, output: 10_000 } } },
      script: cast({ [ROOT]: lead(agent('one')), [promptOf('one')]: turns({ ...READ, usage }, { ...READ, usage }, { text: 'seen', usage }) }),
    })
    const before = await stage.die(({ type, depth, data }) => type === 'turn.ended' && depth === 1 && data.turn === 2, run)
    const { cadre, events } = await stage.open()
    await resume(cadre)
    expect(endOf(events, 'one')).toMatchObject({ turns: 3, toolCalls: 2, usage: { input: 300, output: 30, cacheRead: 0, cacheWrite: 0 } })
    expect(endOf(events, 'one')?.costUsd).toBeCloseTo(0.6)
    const [start] = startsOf(before, 'one')
    const lived = (before.at(-1)?.time ?? 0) - (start?.time ?? 0)
    expect(endOf(events, 'one')?.durationMs).toBeGreaterThanOrEqual(lived)
  })

  test('what it did stays its own where it ends before it goes on', async () => {
    const usage = { input: 100, output: 10 }
    const held = Promise.withResolvers<void>()
    const stage = await openStage({
      script: cast({
        [ROOT]: lead(inBackground('two'), inBackground('one')),
        [promptOf('one')]: turns({ ...READ, usage }, { ...READ, usage }, { text: 'never', usage }),
        [promptOf('two')]: async () => {
          await held.promise
          return { text: 'ok' }
        },
      }),
    })
    await stage.die(({ type, depth, data }) => type === 'turn.ended' && depth === 1 && data.turn === 2, run)
    const { cadre, events } = await stage.open({
      settings: { model: 'openai/gpt-test', limits: { maxRunning: 1 } },
      onEvent(event) {
        if (event.type !== 'delegation.queued' || event.data.title !== 'one') return
        void cadre.agents.stop(event.agent).then(held.resolve)
      },
    })
    await resume(cadre)
    expect(endOf(events, 'one')).toMatchObject({ status: 'killed', turns: 2, toolCalls: 2, usage: { input: 200, output: 20 } })
  })

  test('its turn limit is not a new one', async () => {
    const stage = await openStage({ script: cast({ [ROOT]: lead(agent('one', { max_turns: 3 })), [promptOf('one')]: ({ turn }) => ({ text: `turn ${turn}`, calls: READ.calls }) }) })
    await stage.die(({ type, depth, data }) => type === 'turn.ended' && depth === 1 && data.turn === 2, run)
    const { cadre, events } = await stage.open()
    await resume(cadre)
    expect(endOf(events, 'one')).toMatchObject({ status: 'partial', cause: 'max_turns', turns: 3, output: 'turn 3' })
  })

  test('queued ones keep their order', async () => {
    const names = ['one', 'two', 'three', 'four']
    const held = Promise.withResolvers<void>()
    const stage = await openStage({
      settings: { limits: { maxRunning: 1 } },
      script: cast({
        [ROOT]: turns({ calls: names.map((name) => inBackground(name)) }, { text: 'waiting' }),
        ...Object.fromEntries(names.map((name) => [promptOf(name), async () => {
          await held.promise
          return { text: 'ok' }
        }])),
      }),
    })
    await stage.die(({ type, depth, data }) => type === 'turn.ended' && depth === 0 && data.turn === 2, run)
    held.resolve()
    const { cadre, events } = await stage.open()
    await resume(cadre)
    expect(ofType(events, 'delegation.started').filter(({ depth }) => depth === 1).map(({ data }) => data.title)).toEqual(names)
    expect(ofType(events, 'delegation.queued').map(({ data }) => data.title)).toEqual(names.slice(1))
  })

  test('messages it had not read are read, in their order, and what the user asks next comes after them', async () => {
    const stage = await openStage({ script: cast({ [ROOT]: turns(async () => {
      await delay(20)
      return READ
    }) }) })
    const before = await stage.die(({ type, data }) => type === 'message.sent' && data.text === 'third', async (cadre) => {
      const running = run(cadre)
      while (cadre.agents.list().length === 0) await delay(1)
      const id = cadre.agents.list()[0]?.id ?? ''
      for (const text of ['second', 'third']) await cadre.agents.send(id, text)
      return running
    })
    const { cadre } = await stage.open()
    const { agentId } = await resume(cadre, { prompt: 'fourth' })
    const request = lastOf(stage.server.requests, ROOT)
    expect(userTexts(request).slice(1)).toEqual(['second', 'third', 'fourth', GOES_ON])
    expect(cadre.journal.transcript(agentId).flatMap((message) => (message.role === 'user' ? [message.text] : [])).slice(1)).toEqual(userTexts(request).slice(1))
    expect(before.at(-1)?.type).toBe('message.sent')
  })
})

describe('JRN-05, DEL-06: what has ended is never started again', () => {
  test('a result that came before the process died is told once, and its agent does not run', async () => {
    const slow = Promise.withResolvers<void>()
    const stage = await openStage({
      script: cast({
        [ROOT]: turns({ calls: [inBackground('quick'), inBackground('slow')] }, { text: 'waiting' }),
        [promptOf('quick')]: () => ({ text: 'quick is done' }),
        [promptOf('slow')]: async () => {
          await slow.promise
          return { text: 'slow is done' }
        },
      }),
    })
    const before = await stage.die(({ type, depth }) => type === 'delegation.ended' && depth === 1, run)
    slow.resolve()
    const { cadre, events } = await stage.open()
    await resume(cadre)
    expect(startsOf(events, 'quick')).toEqual([])
    expect(ofType(events, 'notification').map(({ data }) => data.title).toSorted()).toEqual(['quick', 'slow'])
    expect(ofType(events, 'notification').find(({ data }) => data.title === 'quick')?.data.of).toBe(idOf(before, 'quick'))
    const told = userTexts(lastOf(stage.server.requests, ROOT)).filter((text) => text.startsWith('<task-notification>'))
    expect(told).toHaveLength(2)
  })

  test('a run that gave its last answer is not asked for it again', async () => {
    const stage = await openStage({ script: cast({ [ROOT]: turns(READ, { text: 'the answer' }) }) })
    await stage.die(({ type, data }) => type === 'turn.ended' && data.turn === 2, run)
    const asked = stage.server.requests.length
    const { cadre } = await stage.open()
    expect(await resume(cadre)).toMatchObject({ status: 'completed', output: 'the answer', turns: 2 })
    expect(stage.server.requests.length).toBe(asked)
  })
})

describe('JRN-04: calls in doubt', () => {
  test('a message that may have been sent is not sent again: its outcome says that nobody knows', async () => {
    const heard = Promise.withResolvers<void>()
    const stage = await openStage({
      script: cast({
        [ROOT]: turns(
          { calls: [inBackground('one')] },
          ({ toolResults: [started] }) => ({ calls: [{ name: 'agent_send', input: { agent_id: /sa-[0-9a-z]{8}/.exec(started?.text ?? '')?.[0] ?? '', message: 'Hurry.' } }] }),
          ({ toolResults: [sent] }) => {
            heard.resolve()
            return { text: sent?.text ?? '' }
          },
        ),
        [promptOf('one')]: turns(async () => {
          await heard.promise
          return READ
        }, (request) => ({ text: String(userTexts(request).filter((text) => text.endsWith('Hurry.')).length) })),
      }),
    })
    await stage.die(({ type }) => type === 'message.sent', run)
    const { cadre, events } = await stage.open()
    await resume(cadre)
    expect(outcomesOf(events, 'agent_send')).toEqual([expect.objectContaining({ ok: false, text: IN_DOUBT })])
    expect(ofType(events, 'message.sent').filter(({ data }) => data.from === 'parent')).toEqual([])
    expect(endOf(events, 'one')?.output).toBe('1')
  })

  test('a read runs again', async () => {
    const stage = await openStage({ script: cast({ [ROOT]: turns(READ, ({ toolResults }) => ({ text: toolResults[0]?.text ?? '' })) }) })
    await stage.die(({ type }) => type === 'tool.started', run)
    const { cadre, events } = await stage.open()
    const { output } = await resume(cadre)
    expect(output).toContain('alpha')
    expect(outcomesOf(events, 'read')).toHaveLength(1)
  })

  test('a call of which some outcomes were journaled runs the others only', async () => {
    const stage = await openStage({
      script: cast({ [ROOT]: turns({ calls: [agent('one'), agent('two')] }, ({ toolResults }) => ({ text: toolResults.map(({ text }) => text.split('\n').at(-1)).join(', ') })),
        [promptOf('one')]: () => ({ text: 'one is done' }),
        [promptOf('two')]: async () => {
          await delay(50)
          return { text: 'two is done' }
        } }),
    })
    await stage.die(({ type, depth }) => type === 'tool.ended' && depth === 0, run)
    const { cadre } = await stage.open()
    const { session, output } = await resume(cadre)
    expect(output).toBe('one is done, two is done')
    const all = [...cadre.journal.events({ session })]
    expect(outcomesOf(all, 'agent').map(({ callId }) => callId).toSorted()).toEqual(ofType(all, 'tool.started').map(({ data }) => data.call.id).toSorted())
  })

  for (const [what, when] of [
    ['has just been asked for', ({ type, depth }: CadreEvent) => type === 'tool.started' && depth === 0],
    ['has just begun', ({ type, depth }: CadreEvent) => type === 'delegation.started' && depth === 1],
    ['has given its last answer', ({ type, depth, data }: CadreEvent) => type === 'turn.ended' && depth === 1 && data.turn === 2],
    ['has ended', ({ type, depth }: CadreEvent) => type === 'delegation.ended' && depth === 1],
  ] as const) {
    for (const background of [false, true]) {
      test(`a delegation that ${what} belongs to the agent it started: ${background ? 'background' : 'foreground'}`, async () => {
        const call = agent('one', { run_in_background: background })
        const stage = await openStage({
          script: cast({ [ROOT]: lead(call), [promptOf('one')]: turns(READ, { text: 'seen' }) }),
        })
        await stage.die(when, run)
        const { cadre } = await stage.open()
        const { session } = await resume(cadre)
        const all = [...cadre.journal.events({ session })]
        const id = idOf(all, 'one')
        expect(new Set(startsOf(all, 'one').map((start) => start.agent))).toEqual(new Set([id]))
        expect(ofType(all, 'delegation.ended').filter((end) => end.agent === id)).toHaveLength(1)
        const [outcome, ...more] = outcomesOf(all, 'agent')
        expect(more).toEqual([])
        const block = new RegExp([
          `^Agent id: ${id}`, 'Sub-agent: one \\(explorer, openai/gpt-test\\)', 'Status: completed',
          'Turns: 2 {2}Tool calls: 1 {2}Tokens: \\d+ {2}Cost: \\$\\d+\\.\\d{4} {2}Time: \\d+\\.\\d s', 'Output:', 'seen$',
        ].join('\\n'))
        const notices = ofType(all, 'notification').filter(({ data }) => data.of === id)
        if (background) {
          expect(outcome?.text).toBe(`Started in the background as ${id} (one). Its result arrives as a task notification: do not poll. Steer it with agent_send, end it with agent_stop.`)
          expect(notices).toHaveLength(1)
        } else {
          expect(outcome?.text).toMatch(block)
          expect(notices).toEqual([])
        }
      })
    }
  }
})

test('JRN-04, PRO-08: a call is no other of before, although its provider gives both one id and the first is summed up by now', async () => {
  let done = 0
  const sameId = (name: string) => ({ calls: [{ ...agent(name), id: 'same' }] })
  const long = `${'x'.repeat(70)}\n`.repeat(300)
  const stage = await openStage({
    files: { '.cadre/agents/long.md': '---\nname: long\ndescription: works long\ntools: Read, Agent\nautoCompactWindow: 100000\n---\nYou work.\n', 'a.txt': long },
    script: (request) => {
      if (request.system.includes('Write the summary')) return { text: 'It read a.txt many times.' }
      const name = /You are (.+)\.$/.exec(userTexts(request)[0] ?? '')?.[1]
      if (name !== undefined) return { text: `${name} is done` }
      done += 1
      if (done === 1) return sameId('old')
      if (done <= 20) return { calls: [{ name: 'read', input: { path: 'a.txt', limit: 300 - done } }] }
      return done === 21 ? sameId('new') : { text: request.toolResults[0]?.text ?? '' }
    },
  })
  const before = await stage.die(({ type, depth, data }) => type === 'turn.ended' && depth === 0 && data.turn === 20, (cadre) => cadre.run({ prompt: ROOT, agent: 'long' }))
  expect(ofType(before, 'turn.started').filter(({ data }) => data.summary)).not.toEqual([])
  const { cadre, events } = await stage.open()
  expect((await resume(cadre)).output).toMatch(/Output:\nnew is done$/)
  expect(startsOf(events, 'new')).toHaveLength(1)
})

describe('JRN-06: what cannot go on, and what was interrupted', () => {
  const STARTED = /^It was started at (\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z) and cannot go on: /

  /** A root run with one background agent on another provider, cut off while both run, and its next life without that provider. */
  async function withoutProvider() {
    const stage = await openStage({
      script: cast({
        [ROOT]: turns({ calls: [inBackground('far', { model: 'far' }), inBackground('near')] }, { text: 'waiting' }),
        [promptOf('far')]: () => ({ silent: true }),
        [promptOf('near')]: turns(READ, { text: 'near is done' }),
      }),
    })
    const settings = { model: 'openai/gpt-test', delivery: { coalesce: 0.01 } }
    const mine = { type: 'openai-compatible', baseUrl: `${stage.server.url}/v1` }
    const before = await stage.die(({ type, depth, data }) => type === 'turn.ended' && depth === 0 && data.turn === 2, run, {
      settings: { ...settings, providers: { mine }, modelAliases: { far: 'mine/m' } },
    })
    const { cadre, events } = await stage.open({ settings })
    const result = await resume(cadre)
    return { stage, before, cadre, events, result }
  }

  test('an agent whose provider is gone is lost: the user sees it at once, its parent reads one notice with id, title and start time', async () => {
    const { stage, before, events, result } = await withoutProvider()
    const id = idOf(before, 'far')
    const end = endOf(events, 'far')
    expect(end).toMatchObject({ agentId: id, status: 'lost', cause: null, success: false, output: 'It had not done anything yet.', title: 'far' })
    const [start] = startsOf(before, 'far')
    expect(STARTED.exec(end?.error ?? '')?.[1]).toBe(new Date(start?.time ?? 0).toISOString())
    // Before anyone is asked anything.
    expect(events.findIndex(({ type }) => type === 'delegation.ended')).toBeLessThan(events.findIndex(({ type }) => type === 'turn.started'))
    const notices = ofType(events, 'notification').filter(({ data }) => data.of === id)
    expect(notices).toHaveLength(1)
    expect(notices[0]?.data.text).toContain(`<task-id>${id}</task-id>\n<kind>agent</kind>\n<status>lost</status>\n<summary>far</summary>`)
    expect(notices[0]?.data.text).toContain(`\nReason: It was started at ${new Date(start?.time ?? 0).toISOString()} and cannot go on: `)
    expect(result.status).toBe('completed')
    expect(userTexts(lastOf(stage.server.requests, ROOT)).filter((text) => text.includes(`<task-id>${id}</task-id>`))).toHaveLength(1)
  })

  test('the first turn after the resume names what was interrupted', async () => {
    const { stage, before } = await withoutProvider()
    const texts = userTexts(lastOf(stage.server.requests, ROOT))
    expect(texts.filter((text) => text.startsWith(GOES_ON))).toEqual([
      `${GOES_ON}\nSub-agents that were interrupted:\n- far (${idOf(before, 'far')}): lost\n- near (${idOf(before, 'near')}): goes on`,
    ])
  })

  test('an agent whose folder is gone is lost, and so is its helper', async () => {
    const gone = '/nowhere/at/all'
    const stage = await openStage({
      orchestrator: { agents: { chief: { description: 'leads', tools: ['read', 'agent'], prompt: 'You lead.' } } },
      script: cast({
        [ROOT]: turns({ calls: [inBackground('far', { subagent_type: 'chief' })] }, { text: 'waiting' }),
        [promptOf('far')]: turns({ calls: [agent('helper')] }),
        [promptOf('helper')]: () => ({ silent: true }),
      }),
    })
    let file = ''
    await stage.die(({ type, depth }) => type === 'turn.started' && depth === 2, (cadre) => {
      file = cadre.journal.file
      return run(cadre)
    })
    const db = new DatabaseSync(file)
    db.exec('DROP TRIGGER event_is_never_changed') // no worktree of an agent can be gone yet: the journal is made to tell of one
    db.prepare(`UPDATE event SET data = json_set(data, '$.cwd', ?) WHERE type = 'delegation.started' AND depth = 1`).run(gone)
    db.close()
    const { cadre, events } = await stage.open()
    await resume(cadre)
    expect(endOf(events, 'far')).toMatchObject({ status: 'lost', error: expect.stringMatching(STARTED) })
    expect(endOf(events, 'far')?.error).toContain(`there is no folder ${gone} any more.`)
    expect(endOf(events, 'helper')).toMatchObject({ status: 'killed', cause: 'parent' })
    expect(ofType(events, 'notification').map(({ data }) => [data.title, data.status])).toEqual([['far', 'lost']])
  })
})

describe('JRN-07: one owner', () => {
  test('a session another process runs is refused by name, and free once that process is dead', async () => {
    let silent = true
    const stage = await openStage({ script: ({ task }) => (silent ? { silent: true } : { text: `heard ${task}` }) })
    const life: Life = { built: BUILT, folder: dirname(stage.root), url: stage.server.url, kind: 'run', killAt: 0 }
    const other = spawn(process.execPath, [fileURLToPath(new URL('crash/fixtures/harness.ts', import.meta.url)), JSON.stringify(life)], { stdio: 'ignore' })
    onTestFinished(() => void other.kill('SIGKILL'))
    while (stage.server.requests.length === 0) await delay(5)
    silent = false
    const { cadre } = await stage.open()
    const session = sessionOf(cadre)
    await expect(cadre.resume({ session, prompt: 'Mine now.' })).rejects.toMatchObject({ code: 'USAGE', message: `Session ${session} is in use by process ${other.pid}.` })
    expect([...cadre.journal.events({ types: ['session.started'] })]).toHaveLength(1)
    other.kill('SIGKILL')
    await once(other, 'exit')
    expect(await cadre.resume({ session })).toMatchObject({ session, status: 'completed' })
  })

  test('a session this process runs is refused, too', async () => {
    const stage = await openStage({ script: () => ({ silent: true }) })
    const { cadre } = await stage.open()
    const running = run(cadre)
    while (stage.server.requests.length === 0) await delay(5)
    await expect(resume(cadre)).rejects.toMatchObject({ code: 'USAGE', message: `Session ${sessionOf(cadre)} is in use by process ${process.pid}.` })
    await cadre.close()
    expect(await running).toMatchObject({ status: 'killed', cause: 'user' })
  })
})

describe('a session that ended', () => {
  const answer = ({ turn }: ScriptRequest) => ({ text: `answer ${turn}` })

  test('is refused without a prompt, and stays as it ended', async () => {
    const stage = await openStage({ script: answer })
    const first = await stage.open()
    const { session } = await run(first.cadre)
    await first.cadre.close()
    const { cadre } = await stage.open()
    const listed = cadre.journal.sessions()
    await expect(resume(cadre)).rejects.toMatchObject({ code: 'USAGE', message: `Session ${session} has ended. Give a prompt with -p to go on with it.` })
    expect(cadre.journal.sessions()).toEqual(listed)
    await expect(cadre.resume({ session: 'ss-nothere0', prompt: 'go' })).rejects.toMatchObject({ code: 'NOT_FOUND', message: 'There is no session "ss-nothere0" here. cadre sessions list shows them.' })
  })

  test('goes on with a prompt: the same root run, its history, its limits anew', async () => {
    const stage = await openStage({ script: cast({ [ROOT]: ({ turn }) => ({ text: `answer ${turn}`, calls: turn % 2 === 1 ? READ.calls : [] }) }) })
    const first = await stage.open()
    const before = await first.cadre.run({ prompt: ROOT, maxTurns: 2 })
    expect(before).toMatchObject({ status: 'completed', turns: 2, output: 'answer 2' })
    await first.cadre.close()
    const { cadre } = await stage.open()
    for (const [prompt, output] of [['And then?', 'answer 4'], ['And after that?', 'answer 6']] as const) {
      expect(await cadre.resume({ session: before.session.slice(0, 7), prompt })).toMatchObject({ session: before.session, agentId: before.agentId, status: 'completed', turns: 2, toolCalls: 1, output })
    }
    const request = lastOf(stage.server.requests, ROOT)
    expect(userTexts(request).slice(1).filter((text) => !text.startsWith('This is your last turn'))).toEqual(['And then?', 'And after that?'])
    expect(JSON.stringify(request.body['messages'])).toContain('answer 4')
    expect(cadre.journal.sessions()).toEqual([expect.objectContaining({ id: before.session, status: 'completed', agents: 1 })])
  })

  test('before its run had begun has nothing to go on with, and says so', async () => {
    const stage = await openStage({ script: answer })
    await stage.die(({ type }) => type === 'session.started', run)
    const { cadre } = await stage.open()
    const message = `Session ${sessionOf(cadre)} was interrupted before its run began: there is nothing to go on with. Start a new run.`
    await expect(resume(cadre)).rejects.toMatchObject({ code: 'USAGE', message })
    await expect(resume(cadre, { prompt: 'go' })).rejects.toMatchObject({ code: 'USAGE', message })
    expect(stage.server.requests).toEqual([])
  })

  test('results that came after its end ride with the first turn of the next prompt, and start none (DEL-06)', async () => {
    const late = Promise.withResolvers<void>()
    const stage = await openStage({
      script: cast({
        [ROOT]: turns({ calls: [inBackground('late')] }, { text: 'I stop here.' }, { text: 'As I said.' }, ({ lastUserText }) => ({ text: lastUserText })),
        [promptOf('late')]: async () => {
          await late.promise
          return { text: 'late is done' }
        },
      }),
    })
    const nudgedOnce = { settings: { model: 'openai/gpt-test', delivery: { maxNudges: 1 } } }
    const told = await stage.die(
      ({ type, depth }) => type === 'delegation.ended' && depth === 0, (cadre) => cadre.run({ prompt: ROOT, onIdle: 'nudge' }), nudgedOnce)
    late.resolve()
    const second = await stage.open()
    const asked = stage.server.requests.length
    expect(await resume(second.cadre)).toMatchObject({ status: 'completed', output: 'As I said.' })
    await second.cadre.settled()
    expect(endOf(second.events, 'late')).toMatchObject({ status: 'completed', output: 'late is done' })
    const all = () => stage.server.requests.slice(asked).flatMap(({ request }) => (request && userTexts(request)[0]?.endsWith(ROOT) ? [request] : []))
    expect(all()).toEqual([])
    await second.cadre.close()
    const { cadre } = await stage.open()
    await resume(cadre, { prompt: 'Anything new?' })
    expect(userTexts(all()[0] as ScriptRequest).filter((text) => text.includes(`<task-id>${idOf(told, 'late')}</task-id>`))).toHaveLength(1)
  })

  test('a sweep is refused: it goes on by itself', async () => {
    const stage = await openStage({ script: answer })
    const { cadre } = await stage.open()
    const { session } = await cadre.sweep({ over: '*.txt', agent: 'explorer', prompt: 'Look at {item}.' })
    await expect(cadre.resume({ session, prompt: 'go' })).rejects.toMatchObject({ code: 'USAGE', message: `${session} is a sweep. Run the same sweep again: finished items are skipped.` })
  })
})

describe('JRN-03, PRG-07: a program goes on from what is journaled', () => {
  const PROGRAM = `---
name: counter
description: reads, and asks a helper
model: script
tools: Read, Agent
---
\`\`\`js
const { text } = await tools.read({ path: 'a.txt' })
const heard = await tools.agent({ description: 'helper', prompt: 'You are helper.', subagent_type: 'explorer' })
const more = await tools.read({ path: 'b.txt' })
return text.split('\\n')[0] + ', ' + JSON.stringify(heard).includes('helper is done') + ', ' + more.text.split('\\n')[0]
\`\`\`
`
  for (const [what, when] of [
    ['after its first read', ({ type, depth }: CadreEvent) => type === 'tool.ended' && depth === 1],
    ['while its helper works', ({ type, depth }: CadreEvent) => type === 'turn.started' && depth === 2],
    ['once its helper has ended', ({ type, depth }: CadreEvent) => type === 'delegation.ended' && depth === 2],
    ['after its last call was asked for', ({ type, depth, data }: CadreEvent) => type === 'turn.ended' && depth === 1 && data.turn === 3],
  ] as const) {
    test(what, async () => {
      const stage = await openStage({
        files: { '.cadre/agents/counter.md': PROGRAM, 'b.txt': 'gamma\n' },
        orchestrator: { trusted: true },
        script: cast({ [ROOT]: lead(agent('count', { subagent_type: 'counter' })), [promptOf('helper')]: () => ({ text: 'helper is done' }) }),
      })
      const before = await stage.die(when, run)
      rmSync(join(stage.root, '.cadre', 'agents', 'counter.md'))
      const { cadre } = await stage.open()
      const { session } = await resume(cadre)
      const all = [...cadre.journal.events({ session })]
      expect(endOf(all, 'count')).toMatchObject({ status: 'completed', value: 'alpha, true, gamma', toolCalls: 3 })
      expect(outcomesOf(all.filter(({ agent: id }) => id === idOf(before, 'count')), 'agent')).toHaveLength(1)
      expect(new Set(startsOf(all, 'helper').map((start) => start.agent)).size).toBe(1)
    })
  }
})

describe('JRN-03: several crashes in a row', () => {
  test('a run that dies five times, each time a few events further, is whole in its sixth life', async () => {
    const names = ['one', 'two', 'three']
    const stage = await openStage({
      settings: { limits: { maxRunning: 2 } },
      script: cast({
        [ROOT]: (request) => (request.turn === 1 ? { calls: names.map((name) => inBackground(name)) } : { text: 'waiting' }),
        ...Object.fromEntries(names.map((name) => [promptOf(name), turns(READ, READ, { text: `${name} is done` })])),
      }),
    })
    const story: CadreEvent[] = []
    const dieAfter = (count: number) => {
      let told = 0
      return () => (told += 1) === count
    }
    story.push(...await stage.die(dieAfter(9), run))
    for (const count of [8, 7, 9, 6]) story.push(...await stage.die(dieAfter(count), (cadre) => resume(cadre)))
    const { cadre } = await stage.open()
    const { session } = await resume(cadre)
    const all = [...cadre.journal.events({ session })]
    expect(ofType(all, 'delegation.ended').map(({ data }) => data.result.status)).toEqual(['completed', 'completed', 'completed', 'completed'])
    for (const name of names) {
      expect(ofType(all, 'turn.ended').filter(({ agent: id }) => id === idOf(all, name)).map(({ data }) => data.turn)).toEqual([1, 2, 3])
      expect(ofType(all, 'notification').filter(({ data }) => data.title === name)).toHaveLength(1)
    }
    expect(story.length).toBe(39)
  })
})

test('a journal that could not be written once ends nothing for good: the session stays as it was, and goes on (JRN-02)', async () => {
  const stage = await openStage({ script: cast({ [ROOT]: lead(inBackground('one'), inBackground('two')), [promptOf('one')]: turns(READ, { text: 'first' }), [promptOf('two')]: turns(READ, READ, { text: 'second' }) }) })
  let full = false
  const { cadre } = await stage.open({
    onEvent(event) {
      if (full || event.type !== 'tool.ended' || event.depth === 0) return
      full = true
      vi.spyOn(cadre.journal, 'append').mockRejectedValueOnce(new CadreError('JOURNAL', 'the disk is full'))
    },
  })
  await expect(run(cadre)).rejects.toThrow('the disk is full')
  expect(cadre.journal.sessions()[0]?.status).not.toMatch(/failed|killed/)
  await cadre.close()
  const { cadre: next, events } = await stage.open()
  expect(await resume(next)).toMatchObject({ status: 'completed' })
  expect([endOf(events, 'one')?.output, endOf(events, 'two')?.output]).toEqual(['first', 'second'])
})
