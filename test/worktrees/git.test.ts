import { execFileSync } from 'node:child_process'
import { appendFileSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, unlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'

import { blame } from '../../worktrees/blame.ts'
import { mainCheckout, openGit, topLevel } from '../../worktrees/git.ts'

function folder(): string {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'cadre-git-')))
  onTestFinished(() => rmSync(root, { recursive: true, force: true }))
  return root
}

function put(root: string, path: string, content = 'x\n'): void {
  mkdirSync(dirname(join(root, path)), { recursive: true })
  writeFileSync(join(root, path), content)
}

function git(root: string, args: readonly string[], author = 'Ann Author', time = '2020-02-03T04:05:06Z'): string {
  return execFileSync('git', [...args], {
    cwd: root, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'],
    env: {
      PATH: process.env['PATH'] ?? '', HOME: '/nonexistent', GIT_CONFIG_NOSYSTEM: '1',
      GIT_AUTHOR_NAME: author, GIT_AUTHOR_EMAIL: 'a@example.com', GIT_AUTHOR_DATE: time, GIT_COMMITTER_NAME: author, GIT_COMMITTER_EMAIL: 'a@example.com', GIT_COMMITTER_DATE: time,
    },
  })
}

function repository(files: Readonly<Record<string, string>> = { 'a.txt': 'one\ntwo\nthree\n' }): string {
  const root = folder()
  git(root, ['init', '-q', '-b', 'main'])
  for (const [path, content] of Object.entries(files)) put(root, path, content)
  git(root, ['add', '-A'])
  git(root, ['commit', '-q', '-m', 'first'])
  return root
}

describe('SCO-02: the project root', () => {
  test('is the top level of the repository a folder lies in, as git says', () => {
    const root = repository({ 'deep/er/x': '' })
    for (const at of [root, join(root, 'deep'), join(root, 'deep/er')]) {
      expect(topLevel(at)).toBe(root)
      expect(topLevel(at)).toBe(git(at, ['rev-parse', '--show-toplevel']).trim())
      expect(mainCheckout(at)).toBe(root)
    }
  })

  test('is none outside of a repository, nor beside a .git that is no repository', () => {
    const root = folder()
    mkdirSync(join(root, 'empty/.git'), { recursive: true })
    put(root, 'broken/.git', 'gitdir: nowhere\n')
    for (const at of [root, join(root, 'empty'), join(root, 'broken')]) expect([topLevel(at), mainCheckout(at)]).toEqual([null, null])
  })

  test('reached through a link is the real folder', () => {
    const root = repository()
    const link = `${root}-link`
    symlinkSync(root, link)
    onTestFinished(() => unlinkSync(link))
    expect(topLevel(link)).toBe(root)
  })

  test('of a submodule is its own, and it is no linked worktree of its parent', () => {
    const inner = repository()
    const root = repository()
    git(root, ['-c', 'protocol.file.allow=always', 'submodule', 'add', '-q', inner, 'sub'])
    expect(topLevel(join(root, 'sub'))).toBe(join(root, 'sub'))
    expect(mainCheckout(join(root, 'sub'))).toBe(join(root, 'sub'))
  })
})

describe('SCO-03: a linked worktree', () => {
  test('knows its main checkout', () => {
    const root = repository({ 'in/x': '' })
    const linked = join(root, '.cadre/worktrees/one')
    git(root, ['worktree', 'add', '-q', linked])
    expect(topLevel(join(linked, 'in'))).toBe(linked)
    expect(mainCheckout(join(linked, 'in'))).toBe(root)
  })

  test('of a bare repository has none', () => {
    const root = repository()
    const bare = folder()
    git(bare, ['clone', '-q', '--bare', root, 'bare.git'])
    git(join(bare, 'bare.git'), ['worktree', 'add', '-q', '../tree', 'main'])
    expect([topLevel(join(bare, 'tree')), mainCheckout(join(bare, 'tree'))]).toEqual([join(bare, 'tree'), null])
  })
})

describe('git for Cadre', () => {
  test('no hook, file-system monitor or textconv of the repository runs, and GIT_DIR of the environment counts for nothing', async () => {
    const root = repository({ 'a.txt': 'one\n', '.gitattributes': '*.txt diff=evil\n' })
    const mark = join(root, 'ran')
    for (const [key, value] of [['core.fsmonitor', `touch ${mark}; true`], ['diff.evil.textconv', `sh -c 'touch ${mark}; cat $0'`], ['core.hooksPath', join(root, 'hooks')]] as const) git(root, ['config', key, value])
    put(root, 'hooks/post-index-change', `#!/bin/sh\ntouch ${mark}\n`)
    execFileSync('chmod', ['+x', join(root, 'hooks/post-index-change')])
    process.env['GIT_DIR'] = '/nonexistent'
    onTestFinished(() => void delete process.env['GIT_DIR'])
    const opened = openGit(root)
    expect(await blame(opened, 'a.txt', [1])).toHaveLength(1)
    expect(await opened.run(['status', '--porcelain'])).toContain('hooks/')
    await expect(opened.run(['rev-parse', '--is-inside-work-tree'])).resolves.toBe('true\n')
    expect(await opened.run(['ls-files', '--others', 'ran'])).toBe('')
  })

  test('a failure is git’s own words, and a stop ends the process', async () => {
    const opened = openGit(repository())
    await expect(opened.run(['rev-parse', '--verify', 'nope'])).rejects.toThrow(/Needed a single revision/)
    const controller = new AbortController()
    const running = opened.run(['cat-file', '--batch'], controller.signal)
    setTimeout(() => controller.abort(new Error('stopped by the test')), 50)
    await expect(running).rejects.toThrow('stopped by the test')
    await expect(opened.run(['status'], controller.signal)).rejects.toThrow('stopped by the test')
  })
})

describe('blame', () => {
  test('names author, time and commit of just the lines asked for', async () => {
    const root = repository()
    writeFileSync(join(root, 'a.txt'), 'one\nTWO\nthree\nfour\n')
    git(root, ['commit', '-qam', 'second'], 'Bob Ünïcode <author> ', '2021-01-01T00:00:00Z')
    const [first, second] = git(root, ['log', '--reverse', '--format=%H']).trim().split('\n')
    expect(await blame(openGit(root), 'a.txt', [4, 1, 2, 2])).toEqual([
      { line: 1, author: 'Ann Author', time: Date.UTC(2020, 1, 3, 4, 5, 6), commit: first },
      { line: 2, author: 'Bob Ünïcode author', time: Date.UTC(2021, 0, 1), commit: second },
      { line: 4, author: 'Bob Ünïcode author', time: Date.UTC(2021, 0, 1), commit: second },
    ])
  })

  test('leaves out what git does not know: changed lines, lines past the end, new files, other folders', async () => {
    const root = repository({ 'a.txt': 'one\ntwo\nthree\n', 'sub/b.txt': 'x\n' })
    writeFileSync(join(root, 'a.txt'), 'one\nchanged\nthree\n')
    put(root, 'new.txt')
    const opened = openGit(root)
    expect((await blame(opened, 'a.txt', [1, 2, 3, 4, 99])).map(({ line }) => line)).toEqual([1, 3])
    expect(await blame(opened, 'a.txt', [99])).toEqual([])
    expect(await blame(opened, 'a.txt', [])).toEqual([])
    for (const path of ['new.txt', 'nope.txt', 'sub', '../x', '/etc/passwd', '--help']) expect([path, await blame(opened, path, [1])]).toEqual([path, []])
    expect(await blame(openGit(join(root, 'sub')), '../a.txt', [1])).toEqual([])
    expect(await blame(openGit(folder()), 'a.txt', [1])).toEqual([])
  })

  test('knows nothing in a repository without a commit', async () => {
    const root = folder()
    git(root, ['init', '-q'])
    put(root, 'a.txt')
    expect(await blame(openGit(root), 'a.txt', [1])).toEqual([])
  })

  test('takes any file name, and content that looks like its own output', async () => {
    const names = ['a b', 'é', 'new\nline', '-L1,1', ':(glob)x']
    const root = repository(Object.fromEntries(names.map((name) => [name, `author Mallory\nauthor-time 1\n${'0'.repeat(40)} 1 1\n`])))
    const opened = openGit(root)
    for (const name of names) expect((await blame(opened, name, [1, 2, 3])).map(({ author }) => author)).toEqual(['Ann Author', 'Ann Author', 'Ann Author'])
    appendFileSync(join(root, 'é'), 'more\n')
    expect(await blame(opened, 'é', [3, 4])).toHaveLength(1)
  })

  test('answers many questions at once', async () => {
    const root = repository(Object.fromEntries(Array.from({ length: 12 }, (_, at) => [`f${at}`, 'x\n'])))
    const opened = openGit(root)
    const answers = await Promise.all(Array.from({ length: 12 }, (_, at) => blame(opened, `f${at}`, [1])))
    expect(answers.map((lines) => lines.length)).toEqual(Array.from({ length: 12 }, () => 1))
  })
})
