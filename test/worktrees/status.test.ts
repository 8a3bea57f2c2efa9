import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'

import { blame } from '../../worktrees/blame.ts'
import { branchOf, openGit } from '../../worktrees/git.ts'
import { workingState } from '../../worktrees/status.ts'

function folder(): string {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'cadre-status-')))
  onTestFinished(() => rmSync(root, { recursive: true, force: true }))
  return root
}

const git = (root: string, ...args: string[]): string =>
  execFileSync('git', ['-c', 'user.name=Ann', '-c', 'user.email=a@example.com', ...args], { cwd: root, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] })

function repository(): string {
  const root = folder()
  git(root, 'init', '-q', '-b', 'main')
  mkdirSync(join(root, 'in'))
  for (const name of ['a.txt', 'b.txt', 'in/c.txt']) writeFileSync(join(root, name), 'one\n')
  git(root, 'add', '-A')
  git(root, 'commit', '-q', '-m', 'first')
  return root
}

describe('PRO-01: git branch and status', () => {
  test('a clean checkout, a changed one, and one with new files', async () => {
    const root = repository()
    expect(await workingState(openGit(root))).toEqual({ branch: 'main', status: { changed: 0, untracked: 0, lines: [] } })
    writeFileSync(join(root, 'a.txt'), 'two\n')
    rmSync(join(root, 'b.txt'))
    writeFileSync(join(root, 'new\nline.txt'), '')
    expect(await workingState(openGit(root))).toEqual({
      branch: 'main', status: { changed: 2, untracked: 1, lines: [' M a.txt', ' D b.txt', '?? "new\\nline.txt"'] },
    })
    expect(await workingState(openGit(join(root, 'in')))).toEqual({ branch: 'main', status: { changed: 0, untracked: 0, lines: [] } })
  })

  test('no commit yet, no branch, a branch with slashes, a linked worktree, no repository', async () => {
    const fresh = folder()
    git(fresh, 'init', '-q', '-b', 'trunk')
    expect(await workingState(openGit(fresh))).toMatchObject({ branch: 'trunk', status: { changed: 0 } })
    const root = repository()
    git(root, 'checkout', '-q', '-b', 'feature/x')
    expect(branchOf(join(root, 'in'))).toBe('feature/x')
    const linked = join(folder(), 'linked')
    git(root, 'worktree', 'add', '-q', '-b', 'other', linked)
    expect(branchOf(linked)).toBe('other')
    git(root, 'checkout', '-q', '--detach')
    expect(branchOf(root)).toBeNull()
    expect(await workingState(openGit(folder()))).toEqual({ branch: null, status: null })
  })

  for (const kind of ['clean', 'process']) {
    test(`a ${kind} filter of the repository's own is never run: status and blame are left out`, async () => {
      const root = repository()
      const trace = join(folder(), 'ran')
      writeFileSync(join(root, '.gitattributes'), '*.txt filter=evil\n')
      git(root, 'config', `filter.evil.${kind}`, `touch ${trace}; cat`)
      git(root, 'config', 'core.fsmonitor', `touch ${trace}; false`)
      writeFileSync(join(root, 'a.txt'), 'other\n')
      expect(await workingState(openGit(root))).toEqual({ branch: 'main', status: null })
      expect(await blame(openGit(root), 'a.txt', [1])).toEqual([])
      expect(existsSync(trace)).toBe(false)
    })
  }

  test('a filter of the user\'s own is the user\'s: it changes nothing here', async () => {
    const root = repository()
    const home = folder()
    writeFileSync(join(home, '.gitconfig'), '[filter "mine"]\n\tclean = cat\n')
    const before = process.env['HOME']
    process.env['HOME'] = home
    onTestFinished(() => void (process.env['HOME'] = before))
    expect(await workingState(openGit(root))).toMatchObject({ status: { changed: 0 } })
    expect(await blame(openGit(root), 'a.txt', [1])).toMatchObject([{ line: 1, author: 'Ann' }])
  })

  test('stopped by its signal, it rejects with the signal\'s reason', async () => {
    const reason = new Error('enough')
    await expect(workingState(openGit(repository()), AbortSignal.abort(reason))).rejects.toBe(reason)
  })
})
