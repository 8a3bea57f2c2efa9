import { z } from 'zod'
import { display } from './reading/confine.ts'
import { isBinary } from './reading/regular-file.ts'
import { defineTool } from './define-tool.ts'
import { changeFile } from './writing/change-file.ts'
import { replaceText } from './writing/replace-text.ts'

/** TOO-06, TOO-07. */
export const edit = defineTool({
  name: 'edit',
  effect: 'write',
  description: 'Replace old_string, which must be in the file exactly once, by new_string. Read the file first; leave out its line numbers.',
  input: z.object({
    path: z.string().min(1),
    old_string: z.string().min(1, 'must not be empty; make a new file with write'),
    new_string: z.string(),
    replace_all: z.boolean().default(false),
  }),
  run: async ({ path: given, old_string: wanted, new_string: replacement, replace_all: all }, context) => changeFile(given, context, {
    create: false,
    change(now, path) {
      const before = now?.bytes ?? Buffer.alloc(0)
      const shown = display(path)
      if (isBinary(before)) throw new Error(`${shown} is binary (${before.length} bytes)`)
      if (wanted === replacement) throw new Error('old_string and new_string are the same: nothing to change')
      const { bytes, places, replaced, line } = replaceText(before, wanted, replacement)
      if (places === 0) throw new Error(`old_string not found in ${shown}`)
      if (places > 1 && !all) throw new Error(`old_string matches ${places} places in ${shown}; add context or set replace_all`)
      return { bytes, said: `Edited ${shown}: ${replaced === 1 ? `line ${line}` : `${replaced} places, the first in line ${line}`}.` }
    },
  }),
})
