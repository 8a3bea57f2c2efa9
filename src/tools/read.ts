import { z } from 'zod'
import { readTool } from './read-tool.ts'
import type { ReadInput } from './reading/inputs.ts'

/** TOO-03. */
export const read = readTool<ReadInput>()({
  name: 'read',
  description: 'Read a text file; lines are numbered.',
  input: z.object({ path: z.string(), offset: z.int().min(1).optional(), limit: z.int().min(1).max(2000).optional() }),
})
