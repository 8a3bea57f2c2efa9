import { execFile } from 'node:child_process'
import { chmodSync, existsSync, lstatSync, mkdirSync, readdirSync, readlinkSync, renameSync, rmSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { promisify } from 'node:util'
import { describe, expect, onTestFinished, test } from 'vitest'
import { commitAll } from '../../worktrees/commit-all.ts'
import type { Worktree } from '../../worktrees/worktree.ts'
import { openWorktrees, type Worktrees, type WorktreesOptions } from '../../worktrees/worktrees.ts'
import { commit, folder, git, put, read, repository, stateOf } from './place.ts'

const by = (checkout: string, options: Partial<WorktreesOptions> = {}): Worktrees => openWorktrees({ checkout, owner: 'session-1', isAlive: () => false, ...options })

async function opened(worktrees: Worktrees, from: string, more: { name?: string; carryDirty?: boolean } = {}): Promise<Worktree> {
  const found = await worktrees.open({ name: 'Fix it!', from, ...more })
  if ('none' in found) throw new Error(found.note)
  return found
}

const branches = (root: string): readonly string[] => git(root, 'branch', '--format=%(refname:short)').split('\n')
const listed = (root: string): number => git(root, 'worktree', 'list').split('\n').length

describe('WKT-01: opening', () => {
  test('makes a locked checkout on a branch of its own in a folder that ignores itself', async () => {
    const root = repository()
    const before = stateOf(root)
    const worktree = await opened(by(root), root)
    expect(worktree.path).toMatch(new RegExp(`^${root}/.cadre/worktrees/fix-it-[0-9a-f]{8}$`))
    expect(worktree.branch).toBe(`cadre/${basename(worktree.path)}`)
    expect([worktree.base, read(worktree.path, 'a.txt'), git(worktree.path, 'status', '--porcelain')]).toEqual([git(root, 'rev-parse', 'HEAD'), 'one\ntwo\nthree\n', ''])
    expect(git(root, 'worktree', 'list', '--porcelain')).toContain('locked cadre session-1')
    expect(stateOf(root)).toBe(before)
  })

  test('takes the HEAD of the parent\'s worktree for its base, not the default branch, and says how far that went on', async () => {
    const root = repository()
    const worktrees = by(root)
    const parent = await opened(worktrees, root)
    const base = commit(parent.path, { 'p.txt': 'p' })
    const child = await opened(worktrees, parent.path)
    expect([child.base, existsSync(join(child.path, 'p.txt'))]).toEqual([base, true])
    commit(parent.path, { 'q.txt': 'q' })
    put(child.path, 'x')
    expect(await worktrees.end(child)).toMatchObject({ kept: true, behind: 1, base })
  })

  for (const name of ['..', '', '--help', 'a/b/../c', '.lock', 'x.lock', 'ü'.repeat(300), 'new\nline', '$(id)', 'HEAD', '@{-1}']) {
    test(`an agent may be called ${JSON.stringify(name.slice(0, 20))}`, async () => {
      const root = repository()
      const worktree = await opened(by(root), root, { name })
      expect([git(worktree.path, 'symbolic-ref', '--short', 'HEAD'), join(worktree.path, '..')]).toEqual([worktree.branch, join(root, '.cadre/worktrees')])
    })
  }

  test('works with spaces and newlines in the path, a detached HEAD, a locked index and CRLF', async () => {
    const root = repository({ 'crlf.txt': 'a\r\nb\r\n', '.gitattributes': '*.txt text eol=crlf\n' }, (() => { const at = join(folder(), 'a b\nc'); mkdirSync(at); return at })())
    git(root, 'checkout', '-q', '--detach')
    put(root, '.git/index.lock', '')
    const worktrees = by(root)
    const worktree = await opened(worktrees, root)
    expect(read(worktree.path, 'crlf.txt')).toBe('a\r\nb\r\n')
    expect(await worktrees.end(worktree)).toMatchObject({ kept: false })
    expect([existsSync(worktree.path), git(root, 'branch', '--list', 'cadre/*')]).toEqual([false, ''])
  })

  test('keeps to a sparse checkout, and removes it', async () => {
    const root = repository({ 'in/a': '1', 'out/b': '1', 'top': '1' })
    git(root, 'sparse-checkout', 'set', 'in')
    const worktrees = by(root)
    const worktree = await opened(worktrees, root)
    expect(readdirSync(worktree.path).toSorted()).toEqual(['.git', 'in', 'top'])
    expect(await worktrees.end(worktree)).toMatchObject({ kept: false })
  })

  test('opens and removes a repository with a submodule', async () => {
    const inner = repository()
    const root = repository()
    git(root, '-c', 'protocol.file.allow=always', 'submodule', 'add', '-q', inner, 'sub')
    commit(root, {}, 'sub')
    const worktrees = by(root)
    const worktree = await opened(worktrees, root)
    expect(await worktrees.end(worktree)).toMatchObject({ kept: false })
    expect([listed(root), existsSync(worktree.path)]).toEqual([1, false])
  })
})

describe('WKT-02: the parent\'s uncommitted files', () => {
  const dirty = (root: string): void => {
    put(root, 'a.txt', 'changed\n')
    rmSync(join(root, 'b.txt'))
    put(root, 'deep/new.txt', 'new\n')
  }

  test('are counted, and not in it', async () => {
    const root = repository()
    dirty(root)
    const worktree = await opened(by(root), root)
    expect([worktree.parentDirty, git(worktree.path, 'status', '--porcelain', '-uall')]).toEqual([3, ''])
  })

  test('are in it, uncommitted, when they are carried; and count as no change when it ends', async () => {
    const root = repository()
    dirty(root)
    const before = stateOf(root)
    const worktrees = by(root)
    const worktree = await opened(worktrees, root, { carryDirty: true })
    expect(git(worktree.path, 'status', '--porcelain', '-uall')).toBe(git(root, 'status', '--porcelain', '-uall'))
    expect([read(worktree.path, 'a.txt'), stateOf(root)]).toEqual(['changed\n', before])
    expect(await worktrees.end(worktree)).toMatchObject({ kept: false })
    const other = await opened(worktrees, root, { carryDirty: true })
    put(other.path, 'a.txt', 'changed again\n')
    expect(await worktrees.end(other)).toMatchObject({ kept: true, changed: 2, untracked: 1 })
  })
})

describe('WKT-03, WKT-06: ending', () => {
  test('removes worktree and branch when nothing is in it', async () => {
    const root = repository()
    const worktrees = by(root)
    const worktree = await opened(worktrees, root)
    expect(await worktrees.end(worktree)).toEqual({ kept: false, path: worktree.path, branch: worktree.branch })
    expect([listed(root), branches(root), existsSync(worktree.path)]).toEqual([1, ['main'], false])
  })

  const changes: Readonly<Record<string, readonly [(at: string) => void, object]>> = {
    'a changed file': [(at) => put(at, 'a.txt', 'x'), { changed: 1 }],
    'a staged file': [(at) => (put(at, 'a.txt', 'x'), void git(at, 'add', 'a.txt')), { changed: 1 }],
    'a deleted file': [(at) => rmSync(join(at, 'a.txt')), { changed: 1 }],
    'a changed mode': [(at) => chmodSync(join(at, 'a.txt'), 0o755), { changed: 1 }],
    'a new file': [(at) => put(at, 'new'), { untracked: 1 }],
    'a new file with a newline in its name': [(at) => put(at, 'new\nline'), { untracked: 1 }],
    'a new link to nowhere': [(at) => symlinkSync('/nowhere', join(at, 'link')), { untracked: 1 }],
    'a new ignored file': [(at) => put(at, 'ignored/deep/x'), { ignored: 1 }],
    'a repository': [(at) => void repository({ x: 'x' }, (mkdirSync(join(at, 'inner')), join(at, 'inner'))), { untracked: 1 }],
    'a commit': [(at) => void commit(at, { 'a.txt': 'x' }), { ahead: 1 }],
    'a commit beside the branch': [(at) => (git(at, 'checkout', '-q', '--detach'), void commit(at, { 'a.txt': 'x' })), { ahead: 1 }],
    'a commit, and HEAD back at the base': [(at) => (commit(at, { 'a.txt': 'x' }), void git(at, 'checkout', '-q', '--detach', 'HEAD~1')), { ahead: 1 }],
    'a branch moved back': [(at) => void git(at, 'reset', '-q', '--hard', 'HEAD~1'), { ahead: 0 }],
    'a change git was told to overlook': [(at) => (git(at, 'update-index', '--assume-unchanged', 'a.txt'), put(at, 'a.txt', 'x')), { changed: 1 }],
    'a change git was told to skip': [(at) => (git(at, 'update-index', '--skip-worktree', 'a.txt'), put(at, 'a.txt', 'x')), { changed: 1 }],
    'a change of the same size and time': [(at) => (put(at, 'a.txt', 'ONE\ntwo\nthree\n'), utimesSync(join(at, 'a.txt'), lstatSync(join(at, 'b.txt')).atime, lstatSync(join(at, 'b.txt')).mtime)), { changed: 1 }],
  }
  for (const [what, [make, found]] of Object.entries(changes)) {
    test(`keeps it with ${what}`, async () => {
      const root = repository({ 'b.txt': 'b', '.gitignore': 'ignored\n' })
      commit(root, { 'a.txt': 'one\ntwo\nthree\n' })
      const worktrees = by(root)
      const worktree = await opened(worktrees, root)
      make(worktree.path)
      const before = git(worktree.path, 'status', '--porcelain', '-uall', '--ignored')
      expect(await worktrees.end(worktree)).toMatchObject({ kept: true, path: worktree.path, branch: worktree.branch, base: worktree.base, behind: 0, none: false, ...found })
      expect([git(worktree.path, 'status', '--porcelain', '-uall', '--ignored'), branches(root)]).toEqual([before, expect.arrayContaining([worktree.branch])])
    })
  }

  test('removes it once what it holds has landed', async () => {
    const root = repository()
    const worktrees = by(root)
    const worktree = await opened(worktrees, root)
    put(worktree.path, 'x')
    const tip = await commitAll(worktree, { message: 'x' })
    expect(await worktrees.end(worktree)).toMatchObject({ kept: true, ahead: 1 })
    expect(await worktrees.end(worktree, { landed: tip ?? '' })).toMatchObject({ kept: false })
    expect(branches(root)).toEqual(['main'])
  })

  const broken: Readonly<Record<string, (root: string, at: string) => void>> = {
    'is a link to somebody\'s folder by now': (root, at) => (renameSync(at, `${at}-moved`), symlinkSync(join(root, 'precious'), at)),
    'has a .git file that leads to another repository': (_root, at) => writeFileSync(join(at, '.git'), `gitdir: ${repository()}/.git\n`),
    'has a .git file that leads to the main checkout': (root, at) => writeFileSync(join(at, '.git'), `gitdir: ${root}/.git\n`),
    'has a repository in place of its .git file': (_root, at) => (rmSync(join(at, '.git')), void repository({ x: 'x' }, at)),
    'has lost its .git file': (_root, at) => rmSync(join(at, '.git')),
    'lies below a link by now': (root) => (renameSync(join(root, '.cadre'), join(root, 'elsewhere')), symlinkSync('elsewhere', join(root, '.cadre'))),
  }
  for (const [what, make] of Object.entries(broken)) {
    test(`a worktree that ${what} stays, nothing is deleted, and the failure is told`, async () => {
      const root = repository({ 'a.txt': 'a', 'precious/file': 'p' })
      const worktrees = by(root)
      const worktree = await opened(worktrees, root)
      make(root, worktree.path)
      const before = stateOf(root)
      expect(await worktrees.end(worktree)).toMatchObject({ kept: true, failure: expect.stringMatching(/./) })
      expect([stateOf(root), lstatSync(worktree.path).isDirectory() || lstatSync(worktree.path).isSymbolicLink()]).toEqual([before, true])
    })
  }
})

describe('WKT-03: going on in it', () => {
  test('reopens it with all it had, in another process too', async () => {
    const root = repository()
    const worktree = await opened(by(root), root)
    put(worktree.path, 'x')
    expect(await by(root, { owner: 'session-2' }).reopen(worktree.path)).toEqual(worktree)
    expect(git(root, 'worktree', 'list', '--porcelain')).toContain('locked cadre session-2')
  })

  test('does not, where another living owner has it, git does not know it, or it is no worktree of ours', async () => {
    const root = repository()
    const worktree = await opened(by(root), root)
    const other = by(root, { owner: 'session-2', isAlive: (owner) => owner === 'session-1' })
    expect(await other.reopen(worktree.path)).toMatchObject({ none: 'in-use', note: expect.stringContaining('session-1') })
    const alien = join(folder(), 'alien')
    git(root, 'worktree', 'add', '-q', alien)
    for (const path of [root, alien, '/nowhere', join(root, '.cadre/worktrees')]) expect(await other.reopen(path)).toMatchObject({ none: 'gone' })
  })
})

describe('WKT-04: without git', () => {
  test('no repository, and one without a commit, are values with a note', async () => {
    const none = folder()
    const fresh = folder()
    git(fresh, 'init', '-q')
    expect(await by(none).open({ name: 'x', from: none })).toEqual({ none: 'no-git', note: 'no git here: ran without a worktree' })
    expect(await by(fresh).open({ name: 'x', from: fresh })).toEqual({ none: 'no-commit', note: 'no git here: ran without a worktree' })
    expect([readdirSync(none), existsSync(join(fresh, '.cadre'))]).toEqual([[], false])
  })

  for (const setting of ['filter.evil.smudge', 'filter.evil.clean', 'filter.evil.process', 'merge.evil.driver']) {
    test(`${setting} of the repository's own is never run, unless it is trusted`, async () => {
      const root = repository({ 'a.txt': 'a\n', '.gitattributes': '*.txt filter=evil\n' })
      const trace = join(folder(), 'ran')
      git(root, 'config', setting, `touch ${trace}; cat`)
      expect(await by(root).open({ name: 'x', from: root })).toMatchObject({ none: 'own-programs', note: expect.stringContaining(setting) })
      expect(existsSync(trace)).toBe(false)
    })
  }

  test('no hook of the repository runs', async () => {
    const root = repository()
    const trace = join(folder(), 'ran')
    for (const hook of ['post-checkout', 'pre-commit', 'post-commit', 'reference-transaction', 'post-index-change', 'prepare-commit-msg']) {
      put(root, `.git/hooks/${hook}`, `#!/bin/sh\ntouch ${trace}\n`)
      chmodSync(join(root, '.git/hooks', hook), 0o755)
    }
    const worktrees = by(root)
    const worktree = await opened(worktrees, root)
    put(worktree.path, 'x')
    await commitAll(worktree, { message: 'x' })
    await worktrees.end(worktree)
    expect(existsSync(trace)).toBe(false)
  })
})

describe('WKT-05: .worktreeinclude', () => {
  test('copies the ignored files it names, links as links, with folders at any depth', async () => {
    const root = repository({ '.gitignore': '.env*\nnode_modules/\nlink\n', '.worktreeinclude': '# what it needs\n.env\n**/node_modules/\n!.env.secret\nlink\na.txt\n', 'a.txt': 'a' })
    put(root, '.env', 'KEY=1')
    put(root, '.env.secret', 'no')
    put(root, 'packages/x/node_modules/y/z.js', 'z')
    put(root, 'untracked', 'no')
    symlinkSync('/etc/passwd', join(root, 'link'))
    const worktrees = by(root)
    const worktree = await opened(worktrees, root)
    expect(Object.keys(worktree.included).toSorted()).toEqual(['.env', 'link', 'packages/x/node_modules/y/z.js'])
    expect([read(worktree.path, '.env'), readlinkSync(join(worktree.path, 'link')), existsSync(join(worktree.path, '.env.secret'))]).toEqual(['KEY=1', '/etc/passwd', false])
    expect(await worktrees.end(worktree)).toMatchObject({ kept: false })
    const other = await opened(worktrees, root)
    put(other.path, '.env', 'KEY=2')
    expect(await worktrees.end(other)).toMatchObject({ kept: true, ignored: 1 })
    const third = await opened(worktrees, root)
    put(third.path, 'packages/x/node_modules/new.js')
    expect(await worktrees.end(third)).toMatchObject({ kept: true, ignored: 1 })
  })

  test('a bad pattern and a file that cannot be copied are warnings; the rest is copied', async () => {
    const root = repository({ '.gitignore': 'x*\nd/\n', '.worktreeinclude': 'x[\nxa\nd/\n' })
    put(root, 'xa', '1')
    put(root, 'd/f', '1')
    commit(root, {}, 'x')
    git(root, 'rm', '-q', '--cached', '-r', '--ignore-unmatch', 'd')
    const warnings: string[] = []
    const worktree = await opened(by(root, { onWarning: (text) => void warnings.push(text) }), root)
    expect([read(worktree.path, 'xa'), warnings]).toEqual(['1', [expect.stringContaining('"x["')]])
  })

  test('nothing is written through a link that is tracked where a folder is ignored', async () => {
    const outside = folder()
    const root = repository({ '.worktreeinclude': 'd/f\n' })
    symlinkSync(outside, join(root, 'd'))
    commit(root, {}, 'link')
    rmSync(join(root, 'd'))
    put(root, '.git/info/exclude', 'd\n')
    put(root, 'd/f', 'x')
    const warnings: string[] = []
    await opened(by(root, { onWarning: (text) => void warnings.push(text) }), root)
    expect(readdirSync(outside)).toEqual([])
    expect(warnings.join()).toMatch(/^$|link/)
  })
})

describe('WKT-07: links', () => {
  for (const part of ['.cadre', '.cadre/worktrees']) {
    test(`is refused when ${part} is one, to a folder or to nowhere`, async () => {
      for (const target of [folder(), '/nowhere']) {
        const root = repository()
        mkdirSync(join(root, part, '..'), { recursive: true })
        symlinkSync(target, join(root, part))
        await expect(by(root).open({ name: 'x', from: root })).rejects.toMatchObject({ code: 'SYMLINK', message: `${part} is a symlink; remove it` })
        expect([existsSync(target) ? readdirSync(target) : [], listed(root)]).toEqual([[], 1])
      }
    })
  }
})

describe('WKT-08: many, and the dead', () => {
  test('twenty at once all succeed, and end', async () => {
    const root = repository(Object.fromEntries(Array.from({ length: 200 }, (_, n) => [`d${n % 10}/f${n}`, `${n}`])))
    const worktrees = by(root)
    const all = await Promise.all(Array.from({ length: 20 }, (_, n) => opened(worktrees, root, { name: `agent ${n}` })))
    expect(new Set(all.map(({ path }) => path)).size).toBe(20)
    for (const { path } of all) expect(git(path, 'status', '--porcelain')).toBe('')
    const ended = await Promise.all(all.map((each) => worktrees.end(each)))
    expect([ended.every(({ kept }) => !kept), listed(root), branches(root)]).toEqual([true, 1, ['main']])
  })

  test('two processes open and end ten each at once on one repository', async () => {
    const root = repository()
    const run = promisify(execFile)
    const fixture = join(import.meta.dirname, 'fixtures/open-and-end.ts')
    const outputs = await Promise.all(['one', 'two'].map((owner) => run(process.execPath, [fixture, root, owner, '10'])))
    expect([outputs.map(({ stdout }) => stdout.trim()), listed(root), branches(root)]).toEqual([['10 removed', '10 removed'], 1, ['main']])
  })

  test('a sweep frees the locks of the dead, removes what is unchanged, keeps the rest, and leaves the living alone', async () => {
    const root = repository()
    const dead = by(root, { owner: 'dead' })
    const [unchanged, changed, alive] = [await opened(dead, root), await opened(dead, root), await opened(by(root, { owner: 'alive' }), root)]
    put(changed.path, 'work')
    const ended = await by(root, { owner: 'me', isAlive: (owner) => owner === 'alive' }).sweep()
    expect(ended).toMatchObject([{ kept: false, path: unchanged.path }, { kept: true, path: changed.path, untracked: 1 }].toSorted((a, b) => a.path.localeCompare(b.path)))
    expect([existsSync(unchanged.path), read(changed.path, 'work'), existsSync(alive.path)]).toEqual([false, 'x\n', true])
    expect(git(root, 'worktree', 'list', '--porcelain').match(/locked.*/g)).toEqual(['locked cadre alive'])
  })

  test('a sweep removes what was cut off while it was opened, and not the branch of a folder that somebody removed', async () => {
    const root = repository()
    const at = join(root, '.cadre/worktrees/half-12345678')
    mkdirSync(join(root, '.cadre/worktrees'), { recursive: true })
    git(root, 'worktree', 'add', '-q', '--no-checkout', '--lock', '--reason', 'cadre dead', '-b', 'cadre/half-12345678', at)
    put(at, 'a.txt', 'on')
    const removed = await opened(by(root, { owner: 'dead' }), root)
    commit(removed.path, { x: 'x' })
    rmSync(removed.path, { recursive: true })
    await by(root, { owner: 'me' }).sweep()
    expect([existsSync(at), branches(root)]).toEqual([false, [removed.branch, 'main'].toSorted()])
  })

  test('worktrees of others, locked by the user, are nobody\'s business', async () => {
    const root = repository()
    const alien = join(root, '.cadre/worktrees/mine')
    git(root, 'worktree', 'add', '-q', '--lock', '--reason', 'mine', alien)
    expect(await by(root).sweep()).toEqual([])
    expect(existsSync(alien)).toBe(true)
  })

  test('a large tree is kept for the next agent, which finds it clean and at its own base', async () => {
    const root = repository(Object.fromEntries(Array.from({ length: 2_100 }, (_, n) => [`d${n % 50}/f${n}`, `${n}`])))
    const worktrees = by(root)
    const first = await opened(worktrees, root)
    const inode = lstatSync(join(first.path, 'd1/f1')).ino
    expect(await worktrees.end(first)).toMatchObject({ kept: false })
    expect([existsSync(first.path), branches(root)]).toEqual([false, ['main']])
    const [pooled = ''] = readdirSync(join(root, '.cadre/worktrees/.pool'))
    put(join(root, '.cadre/worktrees/.pool', pooled), 'left behind')
    const base = commit(root, { 'd0/f0': 'changed', 'new': 'n' })
    const second = await opened(worktrees, root)
    expect([lstatSync(join(second.path, 'd1/f1')).ino, git(second.path, 'rev-parse', 'HEAD'), git(second.path, 'status', '--porcelain', '-uall', '--ignored'), read(second.path, 'd0/f0')]).toEqual([inode, base, '', 'changed'])
    expect(git(second.path, 'symbolic-ref', '--short', 'HEAD')).toBe(second.branch)
    expect(await by(root, { owner: 'x' }).sweep()).toMatchObject([{ kept: false, path: second.path }])
  })
})

describe('Committing what an agent left', () => {
  test('is one commit of all but ignored files; null when there is nothing', async () => {
    const home = process.env['HOME']
    process.env['HOME'] = folder()
    onTestFinished(() => void (process.env['HOME'] = home))
    const root = repository({ 'a.txt': 'a', 'b.txt': 'b', '.gitignore': 'ignored\n' })
    const worktree = await opened(by(root), root)
    expect(await commitAll(worktree, { message: 'x' })).toBeNull()
    put(worktree.path, 'a.txt', 'changed')
    rmSync(join(worktree.path, 'b.txt'))
    for (const path of ['new\nline', 'deep /n', 'ignored']) put(worktree.path, path)
    const id = await commitAll(worktree, { message: '# what I did\n\nbody', author: { name: 'Bo <x>', email: 'b@example.com' } })
    expect(id).toBe(git(root, 'rev-parse', worktree.branch))
    expect(git(worktree.path, 'log', '-1', '--format=%s|%an|%cn')).toBe('# what I did|Bo x|Cadre')
    expect(git(worktree.path, 'diff', '--name-only', '-z', 'HEAD~1').split('\0')).toEqual(['a.txt', 'b.txt', 'deep /n', 'new\nline', ''])
    expect(git(worktree.path, 'status', '--porcelain')).toBe('')
  })

  test('brings the branch to where the agent worked', async () => {
    const root = repository()
    const worktree = await opened(by(root), root)
    git(worktree.path, 'checkout', '-q', '-b', 'of-its-own')
    put(worktree.path, 'x')
    const id = await commitAll(worktree, { message: 'x' })
    expect([git(root, 'rev-parse', worktree.branch), git(worktree.path, 'symbolic-ref', '--short', 'HEAD')]).toEqual([id, worktree.branch])
  })

  test('refuses a merge that is half done, and a .git that is not its own', async () => {
    const root = repository()
    const worktree = await opened(by(root), root)
    commit(worktree.path, { 'a.txt': '1' })
    commit(root, { 'a.txt': '2' })
    try { git(worktree.path, 'merge', 'main') } catch { /* conflicts, as meant */ }
    await expect(commitAll(worktree, { message: 'x' })).rejects.toMatchObject({ code: 'UNMERGED', message: expect.stringContaining('a.txt') })
    writeFileSync(join(worktree.path, '.git'), `gitdir: ${root}/.git\n`)
    const before = git(root, 'rev-parse', 'main')
    await expect(commitAll(worktree, { message: 'x' })).rejects.toMatchObject({ code: 'NO_CHECKOUT' })
    expect(git(root, 'rev-parse', 'main')).toBe(before)
  })
})
