import { z } from 'zod'
import { defineTool } from './define-tool.ts'

/** Seconds a command may run; how long without a `timeout` the settings say. */
const MOST_S = 600
const MS_PER_S = 1_000

/** TOO-08. A command that fails is an answer, with its output and exit code. */
export const bash = defineTool({
  name: 'bash',
  effect: 'execute',
  description: 'Run a shell command. It starts in your root folder each time. Read, search and edit files with their own tools.',
  input: z.object({
    command: z.string().regex(/\S/, 'must not be empty').refine((command) => !command.includes('\0'), 'must not hold a NUL character'),
    timeout: z.number().positive().max(MOST_S).optional().describe('seconds'),
    description: z.string().optional().describe('3-8 words'),
  }),
  run: ({ command, timeout, description }, { shell }) => shell.run(command, { timeoutMs: timeout === undefined ? null : timeout * MS_PER_S, description: description ?? null }),
})
