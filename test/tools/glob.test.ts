import { execFileSync } from 'node:child_process'
import { appendFileSync, chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'

import { hashFile, readFunctions } from '../../src/tools/reading/index.ts'
import { contextOf, dataOf, testRoot, textOf } from './place.ts'

const { glob, grep, ls } = readFunctions

const git = (root: string, ...args: readonly string[]): string => execFileSync('git', [...args], {
  cwd: root, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'],
  env: { PATH: process.env['PATH'] ?? '', HOME: root, GIT_CONFIG_NOSYSTEM: '1', GIT_AUTHOR_NAME: 'A', GIT_AUTHOR_EMAIL: 'a@b.c', GIT_COMMITTER_NAME: 'A', GIT_COMMITTER_EMAIL: 'a@b.c' },
})
const pathsOf = async (root: string, pattern = '**/*', path = '.'): Promise<unknown> => (await dataOf(glob, { pattern, path }, root))['paths']

describe('TOO-04: glob', () => {
  const files = ['a.ts', 'b.js', '.hidden.ts', 'src/a.ts', 'src/deep/er/x.test.ts', 'src/[id].ts', 'src a/b c.ts', 'src-b/z.ts', '.github/ci.yml', 'ü/é.ts', 'a!b.ts']
  const tree = Object.fromEntries(files.map((path) => [path, '']))
  const patterns: readonly [string, readonly string[]][] = [
    ['*.ts', ['.hidden.ts', 'a!b.ts', 'a.ts']],
    ['./*.js', ['b.js']],
    ['**/*.test.ts', ['src/deep/er/x.test.ts']],
    ['src/**', ['src/[id].ts', 'src/a.ts', 'src/deep/er/x.test.ts']],
    ['src/*.ts', ['src/[id].ts', 'src/a.ts']],
    ['{a,b}.{ts,js}', ['a.ts', 'b.js']],
    ['src/a.ts', ['src/a.ts']],
    ['src/\\[id\\].ts', ['src/[id].ts']],
    ['**/ci.yml', ['.github/ci.yml']],
    ['src a/b c.ts', ['src a/b c.ts']],
    ['**/é.ts', ['ü/é.ts']],
    ['nope/**', []],
    ['src', []],
    ['**/*', files.toSorted()],
  ]
  for (const [pattern, wanted] of patterns) {
    test(`${pattern} gives its files, sorted by path`, async () => {
      const { root } = testRoot(tree)
      expect(await pathsOf(root, pattern)).toEqual(wanted)
    })
  }

  test('a pattern counts from path, and paths from the root', async () => {
    const { root } = testRoot(tree)
    expect(await pathsOf(root, '*.ts', 'src')).toEqual(['src/[id].ts', 'src/a.ts'])
    expect(await pathsOf(root, `${root}/src/a.ts`)).toEqual(['src/a.ts'])
  })

  test('pages follow each other without gap or overlap, and the rest is counted', async () => {
    const { root } = testRoot(Object.fromEntries(Array.from({ length: 25 }, (_, at) => [`f${String(at).padStart(2, '0')}`, ''])))
    const pages = await Promise.all([0, 10, 20].map((offset) => dataOf(glob, { pattern: '*', offset, limit: 10 }, root)))
    expect(pages.flatMap(({ paths }) => paths)).toEqual(Array.from({ length: 25 }, (_, at) => `f${String(at).padStart(2, '0')}`))
    expect(pages.map(({ more }) => more)).toEqual([15, 5, 0])
    expect(await textOf(glob, { pattern: '*', limit: 2 }, contextOf(root))).toBe('f00\nf01\n[23 more paths: offset=2]')
  })

  test('an answer rests on the names in every folder it looked into', async () => {
    const { root, put } = testRoot({ 'a/x.ts': '', 'b/y.ts': '', '.gitignore': 'z\n' })
    const { reads = [] } = await glob({ pattern: 'a/**' }, contextOf(root))
    expect(reads.map(({ path }) => path)).toEqual(['a/'])
    const all = (await glob({ pattern: '**/*' }, contextOf(root))).reads ?? []
    expect(all.map(({ path }) => path).toSorted()).toEqual(['./', '.gitignore', 'a/', 'b/'])
    const changed = () => all.filter(({ path, hash }) => hashFile(root, path) !== hash).map(({ path }) => path)
    expect(changed()).toEqual([])
    put('a/new.ts')
    appendFileSync(join(root, '.gitignore'), 'y.ts\n')
    expect(changed().toSorted()).toEqual(['.gitignore', 'a/'])
  })

  test('an answer that rests on more than 1,000 files and folders names none of them', async () => {
    const { root } = testRoot()
    for (let at = 0; at < 1_001; at += 1) mkdirSync(join(root, `d${at}`))
    expect((await glob({ pattern: '**/*' }, contextOf(root))).reads).toBe(undefined)
  })

  test.skipIf(process.getuid?.() === 0)('a folder that may not be read is counted', async () => {
    const { root } = testRoot({ 'a/x': '', b: '' })
    chmodSync(join(root, 'a'), 0)
    onTestFinished(() => chmodSync(join(root, 'a'), 0o755))
    expect(await textOf(glob, { pattern: '**/*' }, contextOf(root))).toBe('b\n[1 file or folder could not be read]')
  })
})

describe('TOO-04: what git ignores is left out and counted', () => {
  test('nested .gitignore files count outside a repository too', async () => {
    const { root } = testRoot({ '.gitignore': '*.log\n/out\n', 'a.log': '', 'out/x': '', 'sub/out/y': '', 'sub/.gitignore': '!keep.log\n', 'sub/keep.log': '', 'sub/b.log': '', 'z.ts': '' })
    expect(await textOf(glob, { pattern: '**/*' }, contextOf(root))).toBe('.gitignore\nsub/.gitignore\nsub/keep.log\nsub/out/y\nz.ts\n[3 ignored entries left out: ignored=true shows them]')
    expect(await textOf(ls, {}, contextOf(root))).toBe('sub/\n.gitignore  11 B\nz.ts  0 B\n[2 ignored entries left out: ignored=true shows them]')
    expect((await dataOf(glob, { pattern: '**/*.log', ignored: true }, root))['paths']).toEqual(['a.log', 'sub/b.log', 'sub/keep.log'])
  })

  test('a folder named outright is looked into even if ignored', async () => {
    const { root } = testRoot({ '.gitignore': 'dist\n', 'dist/x.js': 'found', 'dist/.gitignore': 'y.js\n', 'dist/y.js': 'found' })
    expect(await pathsOf(root, '**/*')).toEqual(['.gitignore'])
    expect(await pathsOf(root, '**/*', 'dist')).toEqual(['dist/.gitignore', 'dist/x.js'])
    expect(await textOf(grep, { pattern: 'found', path: 'dist' }, contextOf(root))).toMatch(/^dist\/x\.js\n1:found\n\[1 ignored/)
    expect(await textOf(grep, { pattern: 'found', path: 'dist/y.js' }, contextOf(root))).toBe('dist/y.js\n1:found')
  })

  test('rules above the root count when the root is a folder of a repository', async () => {
    const { root, put } = testRoot({ '.gitignore': '*.tmp\npkg/gen/\n', 'pkg/a.ts': '', 'pkg/b.tmp': '', 'pkg/gen/c.ts': '', 'pkg/in/.gitignore': 'd.ts', 'pkg/in/d.ts': '' })
    git(root, 'init', '-q')
    put('.git/info/exclude', 'excluded.ts\n')
    put('pkg/excluded.ts')
    expect(await pathsOf(join(root, 'pkg'))).toEqual(['a.ts', 'in/.gitignore'])
  })

  for (const [title, args] of [['version 2', []], ['version 4', ['update-index', '--index-version', '4']], ['split in two', ['update-index', '--split-index']]] as const) {
    test(`tracked files are never ignored (index ${title})`, async () => {
      const { root, put } = testRoot({ '.gitignore': 'out/\n*.log\n', 'out/tracked.ts': '', 'out/deep/tracked.ts': '', 'a.log': '', 'é b.log': '' })
      git(root, 'init', '-q')
      if (args.length > 0) git(root, ...args)
      git(root, 'add', '-f', '.')
      put('out/untracked.ts')
      put('b.log')
      git(root, 'add', '.gitignore')
      expect(await pathsOf(root)).toEqual(['.gitignore', 'a.log', 'out/deep/tracked.ts', 'out/tracked.ts', 'é b.log'])
      expect(await textOf(ls, {}, contextOf(root))).toMatch(/^out\/\n\.gitignore {2}11 B\na\.log/)
    })
  }

  test('tracked files of a sha256 repository are known too', async () => {
    const { root } = testRoot({ '.gitignore': '*.log\n', 'a.log': '' })
    git(root, 'init', '-q', '--object-format=sha256')
    git(root, 'add', '-f', '.')
    expect(await pathsOf(root)).toEqual(['.gitignore', 'a.log'])
  })

  test('a linked worktree has its own index, and the excludes of the main checkout', async () => {
    const { root, put } = testRoot({ 'main/.gitignore': '*.log\n', 'main/a.log': '' })
    const main = join(root, 'main')
    git(main, 'init', '-q')
    git(main, 'add', '-f', '.')
    git(main, 'commit', '-q', '-m', 'x')
    git(main, 'worktree', 'add', '-q', '../tree')
    put('main/.git/info/exclude', 'excluded\n')
    put('tree/excluded')
    put('tree/b.log')
    expect(await pathsOf(join(root, 'tree'))).toEqual(['.gitignore', 'a.log'])
  })

  test('a repository inside another keeps its own rules, and its .git is never shown', async () => {
    const { root } = testRoot({ '.gitignore': '*.log\n', 'inner/a.log': '', 'inner/.gitignore': '*.tmp\n', 'inner/b.tmp': '' })
    git(root, 'init', '-q')
    git(join(root, 'inner'), 'init', '-q')
    expect(await pathsOf(root)).toEqual(['.gitignore', 'inner/.gitignore', 'inner/a.log'])
  })

  test("the user's core.excludesFile counts, also through an include", async () => {
    const home = mkdtempSync(join(tmpdir(), 'cadre-home-'))
    onTestFinished(() => rmSync(home, { recursive: true }))
    writeFileSync(join(home, '.gitconfig'), '[include]\n\tpath = more # a comment\n')
    writeFileSync(join(home, 'more'), '[core]\n\texcludesFile = "~/my ignore"\n')
    writeFileSync(join(home, 'my ignore'), '*.mine\n')
    const before = process.env['HOME']
    onTestFinished(() => void (process.env['HOME'] = before))
    process.env['HOME'] = home
    const { root } = testRoot({ 'a.mine': '', b: '' })
    git(root, 'init', '-q')
    expect(await pathsOf(root)).toEqual(['b'])
    git(root, 'config', 'core.excludesFile', '/dev/null')
    expect(await pathsOf(root)).toEqual(['a.mine', 'b'])
  })

  test('a .gitignore that is a link counts for nothing, as for git', async () => {
    const { root } = testRoot({ rules: 'a\n', a: '' })
    symlinkSync('rules', join(root, '.gitignore'))
    git(root, 'init', '-q')
    expect(await pathsOf(root)).toEqual(git(root, 'ls-files', '-o', '--exclude-standard').trim().split('\n').filter((path) => path !== '.gitignore'))
  })
})
