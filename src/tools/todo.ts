import { z } from 'zod'
import { defineTool } from './define-tool.ts'

const TODO_LIMITS = { items: 100, textChars: 500 } as const
const STATUSES = ['pending', 'in_progress', 'done'] as const

/**
 * TOO-11. Its effect is `read`: nothing the list says touches the workspace, and an agent that may only read plans too. Replacing a list by the same
 * one again changes nothing.
 */
export const todo = defineTool({
  name: 'todo',
  effect: 'read',
  description: 'Keep your list of what is to be done, shown to the user. Each call replaces the whole list.',
  input: z.object({
    items: z.array(z.object({ text: z.string().trim().min(1).max(TODO_LIMITS.textChars), status: z.enum(STATUSES) })).max(TODO_LIMITS.items),
  }),
  async run({ items }, { todo: list }) {
    await list.replace(items)
    const counts = STATUSES.map((status) => `${items.filter((item) => item.status === status).length} ${status}`)
    return { text: items.length === 0 ? 'Your list is empty now.' : `Your list: ${counts.join(', ')}.`, reads: [] }
  },
})
