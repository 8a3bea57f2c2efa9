import { z } from 'zod'
import { display } from './reading/confine.ts'
import { defineTool } from './define-tool.ts'
import { changeFile } from './writing/change-file.ts'
import { linesOf } from './writing/lines-of.ts'

/** TOO-06, TOO-07. */
export const write = defineTool({
  name: 'write',
  effect: 'write',
  description: 'Write a whole file; folders are created. Read an existing file first. For a part of a file use edit.',
  input: z.object({ path: z.string().min(1), content: z.string() }),
  run: async ({ path: given, content }, context) => changeFile(given, context, {
    create: true,
    change(now, path) {
      const bytes = Buffer.from(content)
      if (!now) return { bytes, said: `Created ${display(path)}: ${linesOf(bytes)}.` }
      if (now.bytes.equals(bytes)) return { bytes, said: `${display(path)} holds exactly this already; nothing was written.` }
      return { bytes, said: `Wrote ${display(path)}: ${linesOf(bytes)}, before ${linesOf(now.bytes)}.` }
    },
  }),
})
