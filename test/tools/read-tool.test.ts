import { describe, expect, test } from 'vitest'
import { z } from 'zod'

import type { ReadContext } from '../../src/core/tool.ts'
import { glob } from '../../src/tools/glob.ts'
import { grep } from '../../src/tools/grep.ts'
import { ls } from '../../src/tools/ls.ts'
import { read } from '../../src/tools/read.ts'
import { readTool } from '../../src/tools/read-tool.ts'
import { readFunctions } from '../../src/tools/reading/index.ts'
import type { LsInput, ReadInput } from '../../src/tools/reading/inputs.ts'
import { contextOf, testRoot } from './place.ts'

/** One call as a model makes it: checked by the tool, then run by its function. */
async function call(tool: typeof read, input: Record<string, string | number | boolean>, context: ReadContext): Promise<string> {
  const checked = tool.check(input)
  if ('error' in checked) return `Error: ${checked.error}`
  const run = readFunctions[tool.name as keyof typeof readFunctions] as (input: unknown, context: ReadContext) => ReturnType<typeof readFunctions.ls>
  return (await run(checked.input, context)).text
}

describe('what an answer says an input can do, it can', () => {
  const tree = {
    '.gitignore': 'hidden\n',
    'hidden': 'needle\n',
    'long': 'needle\n'.repeat(2_400),
    ...Object.fromEntries(Array.from({ length: 1_200 }, (_, at) => [`many/${at}`, ''])),
  }
  /** A call whose answer names a way to more, the text it names, and a line that only that way shows. */
  const calls = [
    [ls, { path: '.' }, 'ignored=true', /^hidden/m],
    [glob, { pattern: '*' }, 'ignored=true', /^hidden$/m],
    [grep, { pattern: 'needle', mode: 'files' }, 'ignored=true', /^hidden$/m],
    [glob, { pattern: 'many/*' }, 'offset=1000', /^many\/999$/m],
    [grep, { pattern: 'needle', path: 'long' }, 'offset=250', /251/],
    [read, { path: 'long' }, 'offset=2001', /^2001\tneedle$/m],
  ] as const
  for (const [tool, input, hint, shown] of calls) {
    test(`TOO-03 to TOO-05: ${tool.name} ${JSON.stringify(input)} names ${hint}, and with it shows more`, async () => {
      const context = contextOf(testRoot(tree).root)
      const first = await call(tool, input, context)
      expect(first).toContain(hint)
      expect(first).not.toMatch(shown)
      const [field = '', value = ''] = hint.split('=')
      expect(await call(tool, { ...input, [field]: value === 'true' ? true : Number(value) }, context)).toMatch(shown)
    })
  }
})

test('a schema that is not exactly the input of its function does not compile', () => {
  const about = { name: 'x', description: 'x' }
  const path = z.string()
  const ignored = z.boolean().optional()
  expect(readTool<LsInput>()({ ...about, input: z.object({ path: path.optional(), ignored }) }).name).toBe('x')
  // @ts-expect-error a field of the function that no call can give
  readTool<LsInput>()({ ...about, input: z.object({ path: path.optional() }) })
  // @ts-expect-error a field the function does not know
  readTool<LsInput>()({ ...about, input: z.object({ path: path.optional(), ignored, deep: ignored }) })
  // @ts-expect-error a field that calls must give and the function does not need
  readTool<LsInput>()({ ...about, input: z.object({ path, ignored }) })
  // @ts-expect-error a field the function needs and calls may leave out
  readTool<ReadInput>()({ ...about, input: z.object({ path: path.optional(), offset: z.int().optional(), limit: z.int().optional() }) })
  // @ts-expect-error fewer values than the function takes
  readTool<{ readonly mode: 'a' | 'b' }>()({ ...about, input: z.object({ mode: z.enum(['a']) }) })
})
