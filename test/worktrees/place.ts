import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { onTestFinished } from 'vitest'

/** A folder that goes with the test. */
export function folder(name = 'cadre-wt-'): string {
  const root = realpathSync(mkdtempSync(join(tmpdir(), name)))
  onTestFinished(() => rmSync(root, { recursive: true, force: true }))
  return root
}

export function put(root: string, path: string, content = 'x\n'): void {
  mkdirSync(dirname(join(root, path)), { recursive: true })
  writeFileSync(join(root, path), content)
}

export const read = (root: string, path: string): string => readFileSync(join(root, path), 'utf8')

/** Runs git as a user would; gives what it prints, trimmed. */
export function git(root: string, ...args: string[]): string {
  const who = { NAME: 'Ann', EMAIL: 'ann@example.com' }
  return execFileSync('git', args, {
    cwd: root, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'], maxBuffer: 1 << 28,
    env: { PATH: process.env['PATH'] ?? '', HOME: '/nonexistent', GIT_AUTHOR_NAME: who.NAME, GIT_AUTHOR_EMAIL: who.EMAIL, GIT_COMMITTER_NAME: who.NAME, GIT_COMMITTER_EMAIL: who.EMAIL },
  }).trim()
}

export function commit(root: string, files: Readonly<Record<string, string>>, message = 'change'): string {
  for (const [path, content] of Object.entries(files)) put(root, path, content)
  git(root, 'add', '-A')
  git(root, 'commit', '-q', '--allow-empty', '-m', message)
  return git(root, 'rev-parse', 'HEAD')
}

/** A repository on `main` with one commit. */
export function repository(files: Readonly<Record<string, string>> = { 'a.txt': 'one\ntwo\nthree\n', 'b.txt': 'b\n' }, root = folder()): string {
  git(root, 'init', '-q', '-b', 'main')
  commit(root, files, 'first')
  return root
}

/** A branch with these files changed in one commit, made beside the checkout; answers what a queue needs of it. */
export function branch(root: string, name: string, files: Readonly<Record<string, string | null>>, message = name): { branch: string; base: string; id: string; title: string } {
  const base = git(root, 'rev-parse', 'main')
  const at = join(folder(), 'w')
  git(root, 'worktree', 'add', '-q', '-b', name, at, 'main')
  for (const [path, content] of Object.entries(files)) {
    rmSync(join(at, path), { recursive: true, force: true })
    if (content !== null) put(at, path, content)
  }
  git(at, 'add', '-A')
  git(at, 'commit', '-q', '-m', message)
  git(root, 'worktree', 'remove', '--force', at)
  return { branch: name, base, id: name, title: name }
}

/** All one can see of a checkout: branch, commit, staged, changed and untracked files. */
export const stateOf = (root: string): string => `${git(root, 'rev-parse', 'HEAD')}\n${git(root, 'status', '--porcelain', '-b', '-uall')}\n${git(root, 'diff', '--binary')}`
