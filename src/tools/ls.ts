import { z } from 'zod'
import { defineTool } from './define-tool.ts'

/** TOO-04. */
export const ls = defineTool({
  name: 'ls',
  effect: 'read',
  description: 'List a folder.',
  input: z.object({ path: z.string().optional() }),
})
