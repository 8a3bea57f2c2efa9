import { z } from 'zod'
import { readTool } from './read-tool.ts'
import type { LsInput } from './reading/inputs.ts'

/** TOO-04. */
export const ls = readTool<LsInput>()({
  name: 'ls',
  description: 'List a folder.',
  input: z.object({ path: z.string().optional(), ignored: z.boolean().optional() }),
})
