import { execFile } from 'node:child_process'
import { cpSync, existsSync, readdirSync, rmSync, unlinkSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { createMergeQueue } from '../../worktrees/merge-queue.ts'
import { recover } from '../../worktrees/recover.ts'
import { branch, folder, git, put, read, repository } from './place.ts'

type Request = ReturnType<typeof branch>

const FIXTURE = join(import.meta.dirname, 'fixtures/land-and-die.ts')

/** Runs the fixture; answers its lines, the last of which names what it was about to do when it was killed. */
const landAndDie = (root: string, requests: readonly Request[], dieAt: number): Promise<{ killed: boolean; lines: readonly string[] }> =>
  new Promise((resolve) => {
    execFile(process.execPath, [FIXTURE, root, JSON.stringify(requests), String(dieAt)], (error, stdout) => resolve({ killed: error?.signal === 'SIGKILL', lines: stdout.trim().split('\n') }))
  })

/** A checkout with changes of its user, and two branches that change, add, remove and replace files by folders beside them. */
function scene(): { root: string; requests: readonly Request[] } {
  const root = repository({ 'a.txt': 'one\ntwo\n', 'gone.txt': 'g\n', 'swap': 'a file\n', 'deep/x.txt': 'x\n', 'mine.txt': 'm\n', 'staged.txt': 's\n' })
  const requests = [
    branch(root, 'one', { 'a.txt': 'one\ntwo\nthree\n', 'new/deep/n.txt': 'a longer text\n', 'gone.txt': null }),
    branch(root, 'two', { 'swap': null, 'swap/inner.txt': 'in\n', 'deep/x.txt': null, 'deep': 'a file\n' }),
  ]
  put(root, 'mine.txt', 'of the user\n')
  put(root, 'staged.txt', 'of the user\n')
  git(root, 'add', 'staged.txt')
  put(root, 'untracked.txt', 'u\n')
  return { root, requests }
}

const userState = (root: string): readonly string[] => [git(root, 'status', '--porcelain', '-uall'), git(root, 'diff'), git(root, 'diff', '--cached'), read(root, 'untracked.txt')]

function copyOf(template: string): string {
  const root = join(folder(), 'r')
  cpSync(template, root, { recursive: true, preserveTimestamps: true })
  return root
}

const leftOver = (root: string): readonly string[] => readdirSync(join(root, '.git')).filter((name) => /cadre-(?!worktrees)|\.lock$/.test(name))

async function landTheRest(root: string, requests: readonly Request[]): Promise<void> {
  const queue = createMergeQueue({ checkout: root, target: 'main', verify: null, gate: async () => () => {} })
  const results = await Promise.all(requests.map((request) => queue.land(request)))
  await queue.close()
  expect(results.map(({ status }) => status)).toEqual(['landed', 'landed'])
  expect(git(root, 'log', '--format=%s', 'main')).toBe('two\none\nfirst')
  expect([read(root, 'a.txt'), read(root, 'swap/inner.txt'), read(root, 'deep'), existsSync(join(root, 'gone.txt'))]).toEqual(['one\ntwo\nthree\n', 'in\n', 'a file\n', false])
}

describe('WKT-10: kill -9 at any point', () => {
  test('before every change of a file and every git: the checkout is whole after recovery, the user\'s files are as they were, and nothing lands twice', async () => {
    const { root: template, requests } = scene()
    const before = userState(template)
    const outcomes = new Set<string>()
    for (let step = 1; ; step += 1) {
      const root = copyOf(template)
      const { killed, lines } = await landAndDie(root, requests, step)
      if (!killed) {
        expect(lines).toContain('landed,landed')
        break
      }
      const at = `killed before ${String(lines.at(-1))}`
      for (const { outcome } of await recover(root)) outcomes.add(outcome)
      expect([at, ...userState(root)]).toEqual([at, ...before])
      expect([at, ...leftOver(root)]).toEqual([at])
      await landTheRest(root, requests)
      expect([at, ...userState(root)]).toEqual([at, ...before])
      rmSync(root, { recursive: true })
    }
    expect(outcomes).toEqual(new Set(['undone', 'finished']))
  }, 1_200_000)

  test('in the middle of writing files: what was begun is taken back, and what the user wrote since stays', async () => {
    const { root, requests } = scene()
    const before = userState(root)
    const step = await stepOf(root, requests, 'read-tree -m -u')
    await landAndDie(root, requests, step)
    put(root, 'a.txt', 'one\ntwo\nth')
    put(root, 'new/deep/n.txt', 'a lon')
    for (const path of ['gone.txt', 'swap', 'deep/x.txt']) unlinkSync(join(root, path))
    expect(await recover(root)).toMatchObject([{ outcome: 'undone' }])
    expect([userState(root), existsSync(join(root, 'new')), leftOver(root)]).toEqual([before, false, []])

    await landAndDie(root, requests, step)
    put(root, 'a.txt', 'the user was here\n')
    put(root, 'new/deep/n.txt', 'a lon, says the user')
    await recover(root)
    expect([read(root, 'a.txt'), read(root, 'new/deep/n.txt')]).toEqual(['the user was here\n', 'a lon, says the user'])
    expect(git(root, 'rev-list', '--count', 'main')).toBe('1')
  })

  test('a user who removed git\'s lock by hand and went on keeps what they did', async () => {
    const { root, requests } = scene()
    const step = await stepOf(root, requests, 'renameSync cadre-index')
    await landAndDie(root, requests, step)
    rmSync(join(root, '.git/index.lock'))
    put(root, 'later.txt', 'l')
    git(root, 'add', 'later.txt')
    expect(await recover(root)).toMatchObject([{ outcome: 'finished' }])
    expect(git(root, 'status', '--porcelain', '-uall').split('\n').map((line) => line.trim())).toEqual(['A  later.txt', 'M mine.txt', 'M  staged.txt', '?? untracked.txt'])
    await landTheRest(root, requests)
  })

  test('while recovery itself is killed again and again', async () => {
    const { root: template, requests } = scene()
    const before = userState(template)
    for (const what of ['read-tree -m -u', 'update-ref', 'renameSync cadre-index']) {
      const root = copyOf(template)
      await landAndDie(root, requests, await stepOf(copyOf(template), requests, what))
      // The next run recovers first: so its own steps are those of the recovery.
      for (let step = 1; step < 25; step += 3) await landAndDie(root, requests, step)
      await recover(root)
      expect([what, ...userState(root)]).toEqual([what, ...before])
      expect([what, ...leftOver(root)]).toEqual([what])
      await landTheRest(root, requests)
    }
  }, 600_000)
})

/** The first step whose line begins so, found in a copy. */
async function stepOf(root: string, requests: readonly Request[], what: string): Promise<number> {
  const { lines } = await landAndDie(copyOf(root), requests, 0)
  const line = lines.find((each) => each.includes(what))
  expect(line, lines.join('\n')).toBeDefined()
  return Number(line?.split(' ')[0])
}
