import { z } from 'zod'
import { readTool } from './read-tool.ts'
import type { GrepInput } from './reading/inputs.ts'

/** TOO-05. */
export const grep = readTool<GrepInput>()({
  name: 'grep',
  description: 'Search file contents with a JavaScript regular expression.',
  input: z.object({
    pattern: z.string(),
    path: z.string().optional(),
    glob: z.string().optional(),
    mode: z.enum(['lines', 'files', 'count']).optional(),
    context: z.int().min(0).max(20).optional(),
    ignore_case: z.boolean().optional(),
    ignored: z.boolean().optional(),
    limit: z.int().min(1).max(10_000).optional(),
    offset: z.int().min(0).optional(),
  }),
})
