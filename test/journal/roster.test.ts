import { join } from 'node:path'

import { describe, expect, test } from 'vitest'

import { NO_USAGE } from '../../src/core/contract.ts'
import type { AgentRow } from '../../src/journal/journal.ts'
import { openJournal } from '../../src/journal/journal.ts'
import {
  call, callEnded, callStarted, ended, event, newJournal, queued, sessionEnded, sessionStarted, started, tempFolder, turnEnded,
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
  test('KIN-09: an agent waits while all it has asked for is other agents', async () => {
    const asked = (...calls: (typeof task)[]) =>
      [event(started()), event(turnEnded(1, '', calls)), ...calls.map((one) => event(callStarted(1, one)))]
    expect(await statuses(...asked(task))).toEqual(['sa-root waiting'])
    expect(await statuses(...asked(task, wait), event(callEnded(1, task)))).toEqual(['sa-root waiting'])
    expect(await statuses(...asked(task, look))).toEqual(['sa-root running'])
    expect(await statuses(...asked(task), event(callEnded(1, task)))).toEqual(['sa-root running'])
    expect(await statuses(...asked(task), event(callEnded(1, task)), event(turnEnded(2, 'x')))).toEqual(['sa-root running'])
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

  test('a session nobody knows has no agents', () => {
    expect(newJournal().agents('ss-9')).toEqual([])
  })
})
