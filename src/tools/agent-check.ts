import { z } from 'zod'
import { AGENT_ID, agentIdOf } from './agent-id.ts'
import { defineTool } from './define-tool.ts'

/** STR-07. */
export const agentCheck = defineTool({
  name: 'agent_check',
  effect: 'delegate',
  repeatable: true,
  description: 'List your sub-agents, look at one (with a result page from offset on), or cancel one.',
  input: z.object({
    ...AGENT_ID,
    action: z.enum(['list', 'check', 'cancel']).optional(),
    id: z.string().optional(),
    offset: z.coerce.number().int().min(0).default(0),
  }),
  shown: ['action', 'id', 'offset'],
  run(input, { companions }) {
    const id = agentIdOf({ ...input, ...(input.id !== undefined && { agent_id: input.id }) })
    const action = input.action ?? (id === null ? 'list' : 'check')
    if (action === 'list') return companions.list()
    if (id === null) throw new Error('id is required')
    return action === 'cancel' ? companions.stop(id) : companions.check(id, input.offset)
  },
})
