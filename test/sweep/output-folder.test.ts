import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { filesMatching } from '../../src/sweep-run.ts'
import { testRoot } from '../tools/place.ts'
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

describe('CMD-12 an output folder is no part of what later sweeps work on', () => {
  const place = () => testRoot({ 'a.ts': '', 'kept/notes.md': '', 'own/.gitignore': 'secret\n' }).root
  const sweepInto = async (out: string, root: string, cwd = root) => {
    await sweep(options({ over: '-', out }), { ...fakeDoors({ lines: ['x'], agent: () => resultOf({ value: [{ file: 'a', message: 'b' }] }) }).doors, root, cwd })
  }
  const all = (root: string) => filesMatching('**/*', { root, paths: [] }, root)

  test('one that the sweep makes, or finds empty, ignores itself: another sweep over everything finds nothing of it', async () => {
    const root = place()
    const before = await all(root)
    mkdirSync(join(root, 'empty'))
    for (const out of ['made', 'made/deep/er', 'empty']) {
      await sweepInto(out, root)
      expect(readFileSync(join(root, out, '.gitignore'), 'utf8')).toBe('*\n')
    }
    expect(await all(root)).toEqual(before)
  })

  test('one that holds anything already is left as it is, its .gitignore too', async () => {
    const root = place()
    for (const out of ['kept', 'own']) await sweepInto(out, root)
    expect(existsSync(join(root, 'kept/.gitignore'))).toBe(false)
    expect(readFileSync(join(root, 'own/.gitignore'), 'utf8')).toBe('secret\n')
  })

  test('the folder in which the user works is not hidden from git, however it is named', async () => {
    const root = place()
    const cwd = join(root, 'new')
    mkdirSync(cwd)
    const empty = tempFolder()
    symlinkSync(empty, join(root, 'link'))
    await sweepInto('.', root, cwd)
    await sweepInto(join(root, 'link'), empty)
    for (const folder of [cwd, empty]) expect(readdirSync(folder).toSorted()).toEqual(['report.md', 'report.sarif', 'results.jsonl'])
  })
})
