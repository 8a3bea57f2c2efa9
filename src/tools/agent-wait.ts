import { z } from 'zod'
import { AGENT_ID, agentIdOf } from './agent-id.ts'
import { defineTool } from './define-tool.ts'

/** s; a longer `timeout` is taken as this. */
const LONGEST_WAIT = 3_600

/** STR-06. */
export const agentWait = defineTool({
  name: 'agent_wait',
  effect: 'delegate',
  repeatable: true,
  description: 'Wait for background sub-agents and get their results. Without ids: all that run.',
  input: z.object({
    ...AGENT_ID,
    ids: z.union([z.array(z.string()), z.string().transform((list) => list.split(',').map((id) => id.trim()).filter(Boolean))]).optional(),
    for: z.enum(['all', 'any']).default('all'),
    timeout: z.coerce.number().positive().optional().describe(`seconds, at most ${LONGEST_WAIT}`),
  }),
  shown: ['ids', 'for', 'timeout'],
  run(input, { companions }) {
    const one = agentIdOf(input)
    const ids = [...(input.ids ?? []), ...(one === null ? [] : [one])]
    return companions.wait(ids.length === 0 ? null : [...new Set(ids)], input.for, input.timeout === undefined ? null : Math.min(input.timeout, LONGEST_WAIT))
  },
})
