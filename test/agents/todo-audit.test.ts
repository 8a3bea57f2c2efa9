import { mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import { folderWith } from './folder.ts'
import { closePrograms, runProgram } from './harness.ts'
import { git, gitGrepPlaces, nastyTree } from './nasty-tree.ts'

afterAll(closePrograms)

type Finding = { file: string; line: number; message: string; kind: string; text: string; author?: string; ageDays?: number; commit?: string }
type Audit = { findings: Finding[]; counts: Record<string, number>; files: number; summary: string }

const audit = async (root: string, prompt: Parameters<typeof runProgram>[2] = '', time?: number): Promise<Audit> =>
  (await runProgram('todo-audit', root, prompt, time === undefined ? {} : { time })).value as unknown as Audit
const places = ({ findings }: Audit): readonly string[] => findings.map(({ file, line }) => `${file}:${line}`)

describe('todo-audit', () => {
  const seeds = [1] // more of them: large-trees.stress.test.ts
  const trees = new Map<number, string>()
  beforeAll(() => {
    for (const seed of seeds) {
      const root = realpathSync(mkdtempSync(join(tmpdir(), 'cadre-nasty-')))
      trees.set(seed, root)
      nastyTree(root, 120, seed)
    }
  }, 60_000)
  afterAll(() => {
    for (const root of trees.values()) rmSync(root, { recursive: true, force: true })
  })

  for (const seed of seeds) {
    test(`finds exactly the lines git grep finds in a tree made of odd bytes, names, line ends and links (seed ${seed})`, async () => {
      const root = trees.get(seed) ?? ''
      const found = await audit(root)
      expect(places(found).toSorted()).toEqual(gitGrepPlaces(root))
      expect(found.findings.length).toBeGreaterThan(750)
      expect(found.findings.every(({ author }) => author === 'Ann Author')).toBe(true)
      expect(found.files).toBe(new Set(found.findings.map(({ file }) => file)).size)
    }, 60_000)
  }

  test('each finding has kind, text and message, and where git knows author, age in days and commit', async () => {
    const root = folderWith({ 'a.ts': 'x() // TODO(bob): later\r\n/* FIXME: now */\n<!-- HACK -->\nnothing\n' })
    git(root, 'init', '-q')
    git(root, 'add', '.')
    git(root, 'commit', '-qm', 'x')
    const commit = git(root, 'rev-parse', 'HEAD').trim()
    writeFileSync(join(root, 'a.ts'), 'x() // TODO(bob): later\r\n/* FIXME: now */\n<!-- HACK -->\n// TODO not committed\n')
    const known = { author: 'Ann Author', ageDays: 366, commit }
    expect(await audit(root, '', Date.UTC(2021, 0, 1, 12))).toEqual({
      findings: [
        { file: 'a.ts', line: 1, message: 'TODO(bob): later (Ann Author, 366 days)', kind: 'TODO', text: 'x() // TODO(bob): later', ...known },
        { file: 'a.ts', line: 2, message: 'FIXME: now (Ann Author, 366 days)', kind: 'FIXME', text: '/* FIXME: now */', ...known },
        { file: 'a.ts', line: 3, message: 'HACK (Ann Author, 366 days)', kind: 'HACK', text: '<!-- HACK -->', ...known },
        { file: 'a.ts', line: 4, message: 'TODO not committed', kind: 'TODO', text: '// TODO not committed' },
      ],
      counts: { TODO: 2, FIXME: 1, HACK: 1 },
      files: 1,
      summary: '2 TODO, 1 FIXME and 1 HACK in 1 file; the oldest, 366 days: a.ts:1 (Ann Author)',
    })
  })

  test('files that .gitattributes takes for binary are left out, as by git grep', async () => {
    const todo = '// TODO\n'
    const root = folderWith({
      '.gitattributes': '*.lock -diff\n# *.md -diff\n/only-top.txt binary\nvendor/** -diff\n[attr]generated -diff linguist-generated\n*.gen generated\n"with space.ts" -diff\n*.sql diff=sql\n*.[ch] -diff\n**/deep/*.x -diff\n',
      'sub/.gitattributes': '*.lock diff\nown.ts -diff\n*.gen !diff\n',
      'a.lock': todo, 'a.md': todo, 'only-top.txt': todo, 'sub/only-top.txt': todo, 'vendor/a/b.ts': todo, 'vendor.ts': todo, 'x.gen': todo, 'with space.ts': todo, 'q.sql': todo, 'q.c': todo, 'q.cc': todo,
      'sub/b.lock': todo, 'sub/own.ts': todo, 'own.ts': todo, 'sub/y.gen': todo, 'a/deep/f.x': todo, 'deep/f.x': todo, 'deep/g/f.x': todo,
    })
    git(root, 'init', '-q')
    git(root, 'add', '-A')
    const wanted = gitGrepPlaces(root)
    expect(wanted).toHaveLength(9)
    expect(places(await audit(root)).toSorted()).toEqual(wanted)
    expect(places(await audit(root, { items: [{ item: 'vendor/a/b.ts' }, { item: 'sub/b.lock' }] }))).toEqual(['sub/b.lock:1'])
  })

  test('works without git, and a second run gives the same', async () => {
    const root = folderWith({ 'a.ts': '// TODO one\n', 'b.ts': '' })
    const once = await audit(root)
    expect(once.findings).toEqual([{ file: 'a.ts', line: 1, message: 'TODO one', kind: 'TODO', text: '// TODO one' }])
    expect(await audit(root)).toEqual(once)
  })

  test('a sweep hands in items, a person a file, a folder or a sentence', async () => {
    const root = folderWith({ 'a.ts': '// TODO a\n', 'sub dir/b.ts': '// TODO b\n', 'c.png': Buffer.from('\0TODO'), 'd.ts': '' })
    const ask = async (prompt: Parameters<typeof runProgram>[2]) => places(await audit(root, prompt))
    expect(await ask({ items: [{ item: 'a.ts' }, { item: 'd.ts', column: 'x' }, { item: 'c.png' }] })).toEqual(['a.ts:1'])
    expect(await ask({ items: ['sub dir/b.ts'] })).toEqual(['sub dir/b.ts:1'])
    expect(await ask({ items: [] })).toEqual([])
    expect(await ask('sub dir')).toEqual(['sub dir/b.ts:1'])
    expect(await ask('What is still to do in `a.ts`?')).toEqual(['a.ts:1'])
    expect(await ask('List everything')).toEqual(['a.ts:1', 'sub dir/b.ts:1'])
    await expect(ask('nope.ts')).rejects.toThrow(/No such file: nope\.ts/)
    await expect(ask('../secret.txt')).rejects.toThrow(/outside the workspace/)
    await expect(ask({ items: [{ item: 'gone.ts' }] })).rejects.toThrow(/No such file: gone\.ts/)
  })

  test('one small file costs two turns: a search, and the answer', async () => {
    const root = folderWith({ 'a.ts': 'nothing here\n' })
    expect((await runProgram('todo-audit', root, { items: [{ item: 'a.ts' }] })).turns).toBe(2)
  })

  test('more matches than a page holds are all there', async () => {
    const root = folderWith({ 'many.txt': '// TODO\n'.repeat(10_500), 'z.txt': 'HACK' })
    const { findings, counts } = await audit(root)
    expect(findings.map(({ line }) => line)).toEqual([...Array.from({ length: 10_500 }, (_, at) => at + 1), 1])
    expect(counts).toEqual({ TODO: 10_500, FIXME: 0, HACK: 1 })
  })
})
