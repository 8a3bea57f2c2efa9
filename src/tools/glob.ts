import { z } from 'zod'
import { readTool } from './read-tool.ts'
import type { GlobInput } from './reading/inputs.ts'

/** TOO-04. */
export const glob = readTool<GlobInput>()({
  name: 'glob',
  description: 'Find files by pattern, e.g. src/**/*.ts.',
  input: z.object({
    pattern: z.string(),
    path: z.string().optional(),
    ignored: z.boolean().optional(),
    limit: z.int().min(1).max(100_000).optional(),
    offset: z.int().min(0).optional(),
  }),
})
