import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { fakeDoors, manyFiles, options, resultOf, sweep } from './fake-doors.ts'

function tempFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'cadre-sweep-test-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}
const doorsOf = () => fakeDoors({ files: manyFiles(2), agent: () => resultOf({ value: [{ file: 'a', message: 'b' }] }) })

describe('CMD-12 --out never overwrites what no sweep wrote', () => {
  const results = '{"item":"a","status":"completed","cause":null,"value":1,"error":null,"agent":"sa-1","costUsd":0,"durationMs":1}'
  const foreign: readonly (readonly [what: string, name: string, content: string])[] = [
    ['a report of the user', 'report.md', '# Our year\n'],
    ['a report without a heading', 'report.md', 'Sweep: x\n'],
    ['results of another program', 'results.jsonl', '{"item":"a","score":1}\n'],
    ['results with a field too few', 'results.jsonl', `${results.replace('"durationMs":1', '"ms":1')}\n`],
    ['results that are no JSON', 'results.jsonl', 'item,status\n'],
    ['results that are a list', 'results.jsonl', '[1]\n'],
    ['one line of another program, without its end', 'results.jsonl', '{"id":1'],
    ['a log of another scanner', 'report.sarif', '{"$schema":"https://json.schemastore.org/sarif-2.1.0.json","version":"2.1.0","runs":[]}'],
  ]
  for (const [what, name, content] of foreign) {
    test(`${what} is a usage error that names it; nothing is run and nothing touched`, async () => {
      const out = tempFolder()
      writeFileSync(join(out, name), content)
      const { doors, started } = doorsOf()
      await expect(sweep(options({ out }), doors)).rejects.toMatchObject({ code: 'USAGE', message: expect.stringContaining(`would overwrite ${name}, which no sweep wrote`) })
      expect(started).toHaveLength(0)
      expect(readFileSync(join(out, name), 'utf8')).toBe(content)
    })
  }

  test('all such files are named at once, folders among them', async () => {
    const out = tempFolder()
    mkdirSync(join(out, 'report.md'))
    writeFileSync(join(out, 'report.sarif'), '{}')
    await expect(sweep(options({ out }), doorsOf().doors)).rejects.toThrow('would overwrite report.md and report.sarif, which no sweep wrote')
  })

  const names = ['results.jsonl', '.results.jsonl.new', 'report.md', '.report.md.new', 'report.sarif', '.report.sarif.new', '.sweep.lock', '.sweep.lock.takeover']
  const things: readonly (readonly [what: string, make: (path: string) => void])[] = [
    ['a folder', (path) => mkdirSync(path)],
    ['a FIFO', (path) => execFileSync('mkfifo', [path])],
    ['a link to a device', (path) => symlinkSync('/dev/zero', path)],
  ]
  for (const [what, make] of things) {
    test(`${what} under any name a sweep uses is a usage error that names it, and nothing waits for it`, async () => {
      for (const name of names) {
        const out = tempFolder()
        make(join(out, name))
        const { doors, started } = doorsOf()
        await expect(sweep(options({ out }), doors)).rejects.toMatchObject({ code: 'USAGE', message: expect.stringContaining(`would overwrite ${name}, which no sweep wrote`) })
        expect(started).toHaveLength(0)
      }
    })
  }

  test('a link under a passing name is not written through', async () => {
    const out = tempFolder()
    writeFileSync(join(out, 'mine'), 'mine')
    symlinkSync(join(out, 'mine'), join(out, '.results.jsonl.new'))
    await expect(sweep(options({ out }), doorsOf().doors)).rejects.toThrow('would overwrite .results.jsonl.new')
    expect(readFileSync(join(out, 'mine'), 'utf8')).toBe('mine')
  })

  const ours: readonly (readonly [what: string, name: string, content: string])[] = [
    ['an empty file', 'report.md', ''],
    ['results with an item', 'results.jsonl', `${results}\n`],
    ['results with several items', 'results.jsonl', `${results.replace('"item":"a"', '"items":["a","b"]')}\n{"it`],
    ['results torn in their first line', 'results.jsonl', results.slice(0, 50)],
    ['results torn after a few bytes', 'results.jsonl', '{"it'],
    ['a first line longer than what is looked at', 'results.jsonl', `${results.replace('"value":1', `"value":"${'x'.repeat(2_000_000)}"`)}\n`],
  ]
  for (const [what, name, content] of ours) {
    test(`${what} is written over`, async () => {
      const out = tempFolder()
      writeFileSync(join(out, name), content)
      expect(await sweep(options({ out }), doorsOf().doors)).toMatchObject({ status: 'completed', completed: 2 })
      expect(readFileSync(join(out, name), 'utf8')).not.toBe(content)
    })
  }

  test('a sweep writes over all that an earlier one wrote, with one item per agent and with several', async () => {
    const out = tempFolder()
    for (const batch of [1, 2, 1]) expect(await sweep(options({ out, batch }), doorsOf().doors)).toMatchObject({ status: 'completed' })
  })
})

test('CMD-12 --out is relative to where the user stands', async () => {
  const cwd = tempFolder()
  const { files } = await sweep(options({ out: 'out' }), { ...doorsOf().doors, cwd })
  expect(files.report).toBe(join(cwd, 'out/report.md'))
})
