import { z } from 'zod'
import { defineTool } from './define-tool.ts'

/** TOO-03. */
export const read = defineTool({
  name: 'read',
  effect: 'read',
  description: 'Read a text file; lines are numbered.',
  input: z.object({ path: z.string(), offset: z.int().min(1).optional(), limit: z.int().min(1).max(2000).optional() }),
})
