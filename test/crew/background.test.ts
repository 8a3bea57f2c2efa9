import { describe, expect, test, vi } from 'vitest'
import { setTimeout as delay } from 'node:timers/promises'
import type { JsonObject } from '../../src/core/json.ts'
import { holds, lab, ofType } from '../delegation/lab.ts'
import type { Script, ScriptRequest } from '../server/provider-server.ts'

const part = (n: number, more: JsonObject = {}): JsonObject => ({ description: `part ${n}`, prompt: `Look at part ${n}.`, subagent_type: 'explorer', run_in_background: true, ...more })

const texts = ({ body }: ScriptRequest): string => JSON.stringify(body['messages'])

/** A parent that starts these in its first turn and then follows `lead`; everyone else is a child. */
const led = (inputs: readonly JsonObject[], lead: Script, child: Script): Script => (request) => {
  if (!holds(request, 'agent')) return child(request)
  return request.turn === 1 ? { calls: inputs.map((input) => ({ name: 'agent', input })) } : lead(request)
}

test('KIN-15: closing a session kills its running agents, at every depth, by the user', async () => {
  const never = new Promise<never>(() => {})
  const { cadre, events } = await lab({
    files: { '.cadre/agents/lead.md': '---\nname: lead\ndescription: leads\ntools: Read, Agent\n---\nYou lead.\n' },
    script: (request) => (request.turn > 1 || !holds(request, 'agent') ? never
      : { calls: [{ name: 'agent', input: { ...part(1), subagent_type: request.system.includes('You lead.') ? 'explorer' : 'lead' } }] }),
  })
  const running = cadre.run({ prompt: 'go' })
  await vi.waitFor(() => expect(ofType(events, 'turn.started').map(({ depth }) => depth)).toContain(2))
  await cadre.close()
  await running
  expect(ofType(events, 'delegation.ended').map(({ depth, data }) => [depth, data.result.status, data.result.cause])).toEqual([[2, 'killed', 'user'], [1, 'killed', 'user'], [0, 'killed', 'user']])
})

describe('AGT-07, DEL-01, DEL-04: background agents', () => {
  test('a run that would stop waits for its background agents and reads one notice for each', async () => {
    const { cadre } = await lab({
      wire: 'anthropic',
      script: led([part(1), part(2)], (request) => ({ text: texts(request).includes('<task-notification>') ? 'all here' : 'nothing left to do' }), async ({ task }) => {
        await delay(50)
        return { text: `saw ${task}` }
      }),
    })
    const result = await cadre.run({ prompt: 'go' })
    expect(result).toMatchObject({ status: 'completed', output: 'all here' })
    const notices = cadre.journal.transcript(result.agentId).filter((message) => message.role === 'user' && message.synthetic === 'task_notification')
    expect(notices.map((message) => (message.role === 'user' ? /<summary>(.*)<\/summary>/.exec(message.text)?.[1] : null))).toEqual(expect.arrayContaining(['part 1', 'part 2']))
    expect(notices).toHaveLength(2)
  })
})
