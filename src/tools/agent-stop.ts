import { z } from 'zod'
import { AGENT_ID, agentIdOf } from './agent-id.ts'
import { defineTool } from './define-tool.ts'

/** STR-04. */
export const agentStop = defineTool({
  name: 'agent_stop',
  effect: 'delegate',
  repeatable: true,
  description: 'End a sub-agent you started, for good.',
  input: z.object(AGENT_ID),
  shown: ['agent_id'],
  run(input, { companions }) {
    const id = agentIdOf(input)
    if (id === null) throw new Error('agent_id is required')
    return companions.stop(id)
  },
})
