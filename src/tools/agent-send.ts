import { z } from 'zod'
import { AGENT_ID, agentIdOf } from './agent-id.ts'
import { defineTool } from './define-tool.ts'

/** STR-02. */
export const agentSend = defineTool({
  name: 'agent_send',
  effect: 'delegate',
  description: 'Send a message to a running sub-agent you started. It reads it before its next turn.',
  input: z.object({ ...AGENT_ID, message: z.string() }),
  shown: ['agent_id', 'message'],
  run(input, { companions }) {
    const id = agentIdOf(input)
    if (id === null) throw new Error('agent_id is required')
    if (input.message.trim() === '') throw new Error('message is required')
    return companions.send(id, input.message)
  },
})
