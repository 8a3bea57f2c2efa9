import { describe, expect, test } from 'vitest'
import { setTimeout as delay } from 'node:timers/promises'
import type { JsonObject } from '../../src/core/json.ts'
import { holds, lab } from '../delegation/lab.ts'
import type { Script, ScriptRequest } from '../server/provider-server.ts'

const part = (n: number, more: JsonObject = {}): JsonObject => ({ description: `part ${n}`, prompt: `Look at part ${n}.`, subagent_type: 'explorer', run_in_background: true, ...more })

const texts = ({ body }: ScriptRequest): string => JSON.stringify(body['messages'])

/** A parent that starts these in its first turn and then follows `lead`; everyone else is a child. */
const led = (inputs: readonly JsonObject[], lead: Script, child: Script): Script => (request) => {
  if (!holds(request, 'agent')) return child(request)
  return request.turn === 1 ? { calls: inputs.map((input) => ({ name: 'agent', input })) } : lead(request)
}

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
    expect(notices.map((message) => (message.role === 'user' ? /<summary>(.*)<\/summary>/.exec(message.text)?.[1] : null)).toSorted()).toEqual(['part 1', 'part 2'])
  })
})
