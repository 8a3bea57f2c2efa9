import { z } from 'zod'
import { defineTool } from './define-tool.ts'

/** Who last changed lines of a file, and when: `[{line, author, time, commit}]`, times in ms; empty where git does not know. */
export const blame = defineTool({
  name: 'blame',
  effect: 'read',
  description: 'Tell who last changed given lines of a file, and when (git).',
  input: z.object({ path: z.string(), lines: z.array(z.int().min(1)).min(1).max(1000) }),
  run: ({ path, lines }, { blame: ask }) => ask(path, lines),
})
