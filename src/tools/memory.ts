import { z } from 'zod'
import { defineTool } from './define-tool.ts'
import { openMemory } from './remembering/open-memory.ts'

/**
 * TOO-10. Its effect is `read`, though it writes: effects are about the workspace, and this reaches nothing but the type's own folder, which only trusted
 * types have (GRA-11). So agents that may only read remember too, and none becomes a writer by it (GRA-07) that would take the write gate. It is not
 * repeatable: an append that was interrupted may have been made.
 */
export const memory = defineTool({
  name: 'memory',
  effect: 'read',
  repeatable: false,
  description: 'Your own notes, kept from run to run. MEMORY.md is shown to you at the start: keep it short and let it name the other files.',
  input: z.object({
    action: z.enum(['list', 'read', 'write', 'append']),
    path: z.string().min(1).optional(),
    content: z.string().optional(),
  }),
  async run({ action, path, content }, { memory: folder }) {
    if (folder === null) throw new Error('This agent type keeps no memory.')
    const notes = openMemory(folder)
    if (action === 'list') return notes.list()
    if (path === undefined) throw new Error(`memory: path is required to ${action}`)
    if (action === 'read') return notes.read(path)
    if (content === undefined) throw new Error(`memory: content is required to ${action}`)
    return action === 'write' ? notes.write(path, content) : notes.append(path, content)
  },
})
