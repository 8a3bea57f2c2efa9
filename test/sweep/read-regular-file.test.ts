import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { readSchema } from '../../src/cli/commands/run.ts'
import { rootGrant } from '../../src/core/narrow.ts'
import { sweepInputs } from '../../src/sweep-run.ts'
import { prepareSweep } from '../../src/sweep/sweep.ts'
import { testRoot } from '../tools/place.ts'
import { options } from './fake-doors.ts'

/** A folder with things that are no file under names of tables, and the doors of a sweep in it. */
function place() {
  const { root } = testRoot({ 'rows.csv': 'a\n1\n', 'folder.csv/x': '' })
  for (const name of ['fifo.csv', 'fifo.jsonl']) execFileSync('mkfifo', [join(root, name)])
  for (const [name, target] of [['device.csv', '/dev/zero'], ['link.csv', 'rows.csv'], ['link.jsonl', 'fifo.csv']] as const) execFileSync('ln', ['-s', target, join(root, name)])
  const grant = rootGrant({ tools: [], root, mode: 'default', maxDepth: 1, maxTurns: 1, timeout: 1 })
  return { root, inputs: sweepInputs({ grant, cwd: root, stdin: async function* () {} }) }
}

describe('CMD-03 only regular files are read: nothing is waited for', () => {
  const wrong = [['fifo.csv', 'a FIFO'], ['fifo.jsonl', 'a FIFO'], ['link.jsonl', 'a FIFO'], ['device.csv', 'a device'], ['folder.csv', 'a folder']] as const
  for (const [name, what] of wrong) {
    test(`--over ${name} is a usage error: it is ${what}`, async () => {
      const { inputs } = place()
      const said = `${name} cannot be read: it is ${what}, and only regular files are read. Check the path after --over.`
      await expect(prepareSweep(options({ over: name }), inputs)).rejects.toMatchObject({ code: 'USAGE', message: said })
    })

    test(`--schema ${name} is a usage error: it is ${what}`, async () => {
      const { root } = place()
      await expect(readSchema(join(root, name))).rejects.toMatchObject({ code: 'USAGE', message: expect.stringContaining(`it is ${what}`) })
    })
  }

  test('a link to a file is that file', async () => {
    const { inputs } = place()
    await expect(prepareSweep(options({ over: 'link.csv' }), inputs)).resolves.toBeDefined()
  })
})
