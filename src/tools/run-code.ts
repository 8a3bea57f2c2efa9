import { z } from 'zod'
import { defineTool } from './define-tool.ts'

/** What a program is not handed: it is one already. */
export const RUN_CODE = 'run_code'

/** seconds */
const TIMEOUT = { default: 600, most: 3_600 }

/**
 * PRG-03. Its effect is `read`: by itself it can do nothing, and what it calls is what its caller may call anyway, each call with an effect and checks
 * of its own.
 */
export const runCode = defineTool({
  name: RUN_CODE,
  effect: 'read',
  repeatable: false,
  description: 'Run JavaScript that calls your other tools: an async function body with tools.<name>(input) and log(); return a value. One turn for many calls; a failed call throws.',
  input: z.object({ code: z.string().min(1), timeout: z.number().positive().max(TIMEOUT.most).default(TIMEOUT.default) }),
  run: ({ code, timeout }, { program }) => program(code, timeout),
})
