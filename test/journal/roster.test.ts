import { join } from 'node:path'

import { describe, expect, test } from 'vitest'

import { NO_USAGE } from '../../src/core/contract.ts'
import type { AgentRow } from '../../src/journal/journal.ts'
import { openJournal } from '../../src/journal/journal.ts'
import {
  call, callEnded, callStarted, ended, event, newJournal, queued, sent, sessionEnded, sessionStarted, started, tempFolder, turnEnded, turnStarted,
} from './story.ts'

const at = (agent: string, time = 1_000, parent = 'sa-root') => ({ agent, parent, time })

const ROW: Omit<AgentRow, 'id' | 'title'> = {
  parent: 'sa-root', depth: 1, type: 'explorer', model: 'test/model', status: 'running', cause: null, turns: 0, maxTurns: 50, toolCalls: 0,
  usage: NO_USAGE, costUsd: 0, background: false, started: null, ended: null,
}

async function agentsOf(events: ReturnType<typeof event>[]) {
  const journal = newJournal()
  await journal.append([event(sessionStarted()), ...events])
  return journal.agents('ss-1')
}

const statuses = async (...events: ReturnType<typeof event>[]) => (await agentsOf(events)).map(({ id, status }) => `${id} ${status}`)

describe('RST-01: the roster', () => {
  test('lists every agent, oldest first, with what its events say', async () => {
    expect(await agentsOf([
      event(started({ title: 'Main' }), { time: 1_000 }),
      event(queued({ title: 'Second' }), at('sa-2', 1_500)),
      event(queued({ title: 'First' }), at('sa-1', 2_000)),
      event(started({ title: 'First', background: true }), at('sa-1', 3_000)),
      event(turnEnded(1, '', [call('x'), call('y')]), at('sa-1')),
      event(turnEnded(2, 'more', [call('z')]), at('sa-1')),
      event(queued({ title: 'Third' }), at('sa-3', 3_500)),
      event(ended({ title: 'Third', status: 'failed', cause: 'crashed', model: 'other/model' }), at('sa-3', 4_000)),
    ])).toEqual([
      { ...ROW, id: 'sa-root', parent: null, depth: 0, title: 'Main', started: 1_000 },
      { ...ROW, id: 'sa-2', title: 'Second', status: 'queued' },
      {
        ...ROW, id: 'sa-1', title: 'First', turns: 2, toolCalls: 3, usage: { input: 200, output: 40, cacheRead: 14, cacheWrite: 6 },
        background: true, started: 3_000,
      },
      {
        ...ROW, id: 'sa-3', title: 'Third', model: 'other/model', status: 'failed', cause: 'crashed', turns: 2, toolCalls: 1,
        usage: { input: 10, output: 5, cacheRead: 3, cacheWrite: 2 }, costUsd: 0.25, ended: 4_000,
      },
    ])
  })

  test('KIN-09: the first final status wins and never changes', async () => {
    expect(await agentsOf([
      event(started()),
      event(ended({ status: 'killed', cause: 'user', costUsd: 1 }), { time: 5 }),
      event(ended({ status: 'completed', cause: null, costUsd: 2 }), { time: 6 }),
    ])).toMatchObject([{ status: 'killed', cause: 'user', costUsd: 1, ended: 5 }])
  })

  const [task, wait, look] = [call('t', 'agent'), call('w', 'agent_wait'), call('l', 'read')]
  const alive = event(started(), at('sa-1'))
  test('KIN-09: an agent waits while all it has asked for is other agents', async () => {
    const asked = (...calls: (typeof task)[]) =>
      [event(started()), event(turnEnded(1, '', calls)), ...calls.map((one) => event(callStarted(1, one))), alive]
    const root = async (...events: ReturnType<typeof event>[]) => (await statuses(...events))[0]
    expect(await root(...asked(task))).toBe('sa-root waiting')
    expect(await root(...asked(task, wait), event(callEnded(1, task)))).toBe('sa-root waiting')
    expect(await root(...asked(task, look))).toBe('sa-root running')
    expect(await root(...asked(task), event(callEnded(1, task)))).toBe('sa-root running')
    expect(await root(...asked(task), event(callEnded(1, task)), event(turnStarted(2)))).toBe('sa-root running')
    expect(await root(...asked(task), event(ended(), at('sa-1')))).toBe('sa-root running')
  })

  test('DEL-04: one that has answered waits for its background agents, queued ones too, until it is asked again', async () => {
    const answered = [event(started()), event(turnStarted(1)), event(turnEnded(1, 'I wait.'))]
    const inBackground = event(queued({ background: true }), at('sa-1'))
    expect(await statuses(...answered, inBackground)).toEqual(['sa-root waiting', 'sa-1 queued'])
    expect(await statuses(...answered, inBackground, event(turnStarted(2)))).toEqual(['sa-root running', 'sa-1 queued'])
    expect(await statuses(...answered, inBackground, event(started({ background: true }), at('sa-1')), event(ended(), at('sa-1'))))
      .toEqual(['sa-root running', 'sa-1 completed'])
    expect(await statuses(...answered, alive)).toEqual(['sa-root running', 'sa-1 running'])
    expect(await statuses(...answered, event(queued({ background: true }), at('sa-2', 1_000, 'sa-1')))).toEqual(['sa-root running', 'sa-2 queued'])
  })

  test('JRN-05: a root run that goes on after its end is one row, with the figures of all its runs', async () => {
    const first = [
      event(started(), { time: 1_000 }), event(turnStarted(1)), event(turnEnded(1, 'one', [call('a')])), event(callStarted(1, call('a'))),
      event(ended({ status: 'partial', cause: 'budget', turns: 1, toolCalls: 1, costUsd: 0.5 }), { time: 2_000 }),
    ]
    const again = [event(sessionStarted()), event(started(), { time: 3_000 }), event(sent('More.'))]
    const whole = { ...ROW, id: 'sa-root', title: 'Look around', parent: null, depth: 0, started: 1_000 }
    const usage = { input: 10, output: 5, cacheRead: 3, cacheWrite: 2 }
    expect(await agentsOf(first)).toEqual([{ ...whole, status: 'partial', cause: 'budget', turns: 1, toolCalls: 1, usage, costUsd: 0.5, ended: 2_000 }])
    expect(await agentsOf([...first, ...again])).toEqual([{ ...whole, turns: 1, toolCalls: 1, usage, costUsd: 0.5 }])
    const second = [...first, ...again, event(turnStarted(2)), event(turnEnded(2, 'two', [call('b'), call('c')]))]
    expect(await agentsOf(second)).toEqual([
      { ...whole, turns: 2, toolCalls: 3, usage: { input: 110, output: 25, cacheRead: 10, cacheWrite: 5 }, costUsd: 0.5 },
    ])
    expect(await agentsOf([...second, event(ended({ turns: 1, toolCalls: 2, costUsd: 0.25 }), { time: 4_000 })])).toEqual([
      { ...whole, status: 'completed', turns: 2, toolCalls: 3, usage: { input: 20, output: 10, cacheRead: 6, cacheWrite: 4 }, costUsd: 0.75, ended: 4_000 },
    ])
  })

  test('AGT-13: a tool named after a type makes its caller wait, too, while the child it started runs', async () => {
    const named = call('n', 'explorer')
    const asked = [event(started()), event(turnEnded(1, '', [named])), event(callStarted(1, named))]
    const events = [...asked, event(started({ callId: 'n' }), at('sa-1'))]
    expect(await statuses(...events)).toEqual(['sa-root waiting', 'sa-1 running'])
    expect(await statuses(...events, event(ended(), at('sa-1')))).toEqual(['sa-root running', 'sa-1 completed'])
  })

  test('JRN-05: agents without an end are interrupted once their session has ended or lost its process', async () => {
    const file = join(tempFolder(), 'journal.sqlite')
    const owner = openJournal({ file, sync: 'normal' })
    const other = { session: 'ss-2', agent: 'sa-2' }
    await owner.append([event(sessionStarted()), event(started()), event(started(), at('sa-1')), event(ended(), at('sa-1'))])
    await owner.append([event(sessionStarted(), other), event(started(), other), event(sessionEnded(), other)])
    expect(owner.agents('ss-2').map(({ status }) => status)).toEqual(['interrupted'])
    expect(owner.agents('ss-1').map(({ status }) => status)).toEqual(['running', 'completed'])
    await owner.close()
    expect(newJournal({ file }).agents('ss-1').map(({ status }) => status)).toEqual(['interrupted', 'completed'])
  })

  test('JRN-05: a resume finds the agents without an end as they were, parents before their children', async () => {
    const journal = newJournal()
    await journal.append([
      event(sessionStarted()),
      event(started()), event(turnEnded(1, '', [task])), event(callStarted(1, task)),
      event(queued(), at('sa-1')), event(started(), at('sa-1')), event(queued(), at('sa-2')),
      event(started(), at('sa-3')), event(ended(), at('sa-3')),
      event(started(), { ...at('sa-4', 1_000, 'sa-1'), depth: 2 }),
      event(ended({ status: 'killed', cause: 'user' })),
      event(sessionEnded()),
      event(started()), event(sent('Go on.')),
    ])
    expect(journal.interrupted('ss-1').map(({ id, status }) => `${id} ${status}`)).toEqual([
      'sa-root running', 'sa-1 running', 'sa-2 queued', 'sa-4 running',
    ])
    await journal.append([event(ended())])
    expect(journal.interrupted('ss-1').map(({ id }) => id)).toEqual(['sa-1', 'sa-2', 'sa-4'])
    expect(journal.interrupted('ss-9')).toEqual([])
  })

  test('a session nobody knows has no agents', () => {
    expect(newJournal().agents('ss-9')).toEqual([])
  })
})
