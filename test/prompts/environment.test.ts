import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'

import { firstMessage, openEnvironment } from '../../src/prompts/environment.ts'
import type { GitState } from '../../src/prompts/environment.ts'

const CLEAN: GitState = { branch: 'main', status: { changed: 0, untracked: 0, lines: [] } }

/** An environment with a clock of its own, and a git that takes `cost` ms and counts how often it was asked. */
function environmentOf(state: GitState | null = CLEAN, options: { readonly root?: string; readonly cwd?: string; readonly cost?: number } = {}) {
  let ms = 0
  let asked = 0
  const environment = openEnvironment({
    root: options.root ?? '/home/ann/project',
    cwd: options.cwd ?? options.root ?? '/home/ann/project',
    platform: 'linux',
    git: state && {
      async state() {
        asked += 1
        await Promise.resolve()
        ms += options.cost ?? 0
        return state
      },
      branch: () => state.branch,
    },
    date: () => new Date(2026, 10, 3, 23, 59, 59),
    now: () => ms,
  })
  return { environment, pass: (by: number) => void (ms += by), asked: () => asked }
}

describe('PRO-01: the environment in an agent\'s first message', () => {
  test('is folder, platform, day, branch and short status, then the prompt', async () => {
    const { environment } = environmentOf({ branch: 'feature/x', status: { changed: 1, untracked: 1, lines: [' M src/a.ts', '?? b.txt'] } })
    expect(firstMessage({ environment: await environment.whole(), prompt: 'Find it.' })).toBe(`Folder: /home/ann/project
Platform: linux
Date: 2026-11-03
Git: branch feature/x, 1 changed, 1 untracked
 M src/a.ts
?? b.txt

Find it.`)
  })

  test('says what it knows of git, and nothing outside of a repository', async () => {
    expect((await environmentOf().environment.whole()).split('\n').at(-1)).toBe('Git: branch main, clean')
    expect((await environmentOf({ branch: null, status: null }).environment.whole()).split('\n').at(-1)).toBe('Git: on no branch')
    expect(await environmentOf(null).environment.whole()).toBe('Folder: /home/ann/project\nPlatform: linux\nDate: 2026-11-03')
  })

  test('names where relative paths start, and where the user stands when that is below', async () => {
    const { environment } = environmentOf(null, { cwd: '/home/ann/project/packages/core' })
    expect(await environment.whole()).toBe('Folder: /home/ann/project\nThe user is in: packages/core\nPlatform: linux\nDate: 2026-11-03')
  })

  test('stays small in a checkout where everything is changed, and no name in it adds a line', async () => {
    const lines = Array.from({ length: 50_000 }, (_, i) => `?? ${'x'.repeat(500)}${i}`)
    const text = await environmentOf({ branch: 'main', status: { changed: 0, untracked: 50_000, lines } }).environment.whole()
    expect(text.split('\n').at(-1)).toBe('(49990 more)')
    expect(Buffer.byteLength(text)).toBeLessThan(1_500)
    const odd = await environmentOf({ branch: 'a\nDate: never', status: null }, { root: '/x\nGit: none' }).environment.whole()
    expect(odd.split('\n')).toHaveLength(4)
  })

  test('a program\'s prompt stays as it is: no environment, no change', () => {
    expect(firstMessage({ environment: '', prompt: '{"a":1}' })).toBe('{"a":1}')
  })

  test('git is asked once in 2 s for 1,000 agents, and seldom where it is slow', async () => {
    const quick = environmentOf()
    await Promise.all(Array.from({ length: 1_000 }, () => quick.environment.whole()))
    quick.pass(1_999)
    await quick.environment.whole()
    expect(quick.asked()).toBe(1)
    quick.pass(1)
    await quick.environment.whole()
    expect(quick.asked()).toBe(2)
    const slow = environmentOf(CLEAN, { cost: 1_000 })
    await slow.environment.whole()
    slow.pass(8_999)
    await slow.environment.whole()
    expect(slow.asked()).toBe(1)
    slow.pass(1)
    await slow.environment.whole()
    expect(slow.asked()).toBe(2)
  })

  test('the short form for items of a sweep is one line under 200 bytes, whatever folder and branch are called, and equal every time', () => {
    expect(environmentOf().environment.short()).toBe('Folder: /home/ann/project, linux, 2026-11-03, branch main')
    fc.assert(fc.property(fc.string({ unit: 'binary', maxLength: 400 }), fc.string({ unit: 'binary', maxLength: 300 }), (root, branch) => {
      const { environment } = environmentOf({ branch, status: null }, { root })
      const short = environment.short()
      expect(Buffer.byteLength(short)).toBeLessThan(200)
      expect(short).not.toMatch(/[\n\r]/)
      expect(environment.short()).toBe(short)
    }))
  })
})
