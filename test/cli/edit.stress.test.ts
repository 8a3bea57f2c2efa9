import { execFileSync } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, test } from 'vitest'
import type { EditSummary } from '../../src/api.ts'
import { cliPlace } from './place.ts'

const git = (root: string, ...args: readonly string[]): string => execFileSync('git', [...args], { cwd: root, encoding: 'utf8' }).trim()

/** A repository with so many source files, a license in package.json, and a test that fails for a file of some name. */
function repository(files: number, more: Readonly<Record<string, string>> = {}) {
  const place = cliPlace({})
  const all = { ...Object.fromEntries(Array.from({ length: files }, (_, i) => [`src/f${i}.ts`, `export const f${i} = ${i}\n`])), 'package.json': '{"license":"MIT"}', '.gitignore': '.cadre/\n', ...more }
  for (const [path, text] of Object.entries(all)) {
    mkdirSync(dirname(join(place.root, path)), { recursive: true })
    writeFileSync(join(place.root, path), text)
  }
  git(place.root, 'init', '-q', '-b', 'main')
  git(place.root, '-c', 'user.name=A', '-c', 'user.email=a@b', 'add', '-A')
  git(place.root, '-c', 'user.name=A', '-c', 'user.email=a@b', 'commit', '-q', '-m', 'first')
  const edit = (...args: readonly string[]) => place.cadre(['edit', '--agent', 'license-header', '--over', 'src/**', ...args])
  return { ...place, edit }
}

const HEADER = '// SPDX-License-Identifier: MIT\n'

describe('CMD-06: cadre edit', () => {
  test('lands one commit per item, says so, and does nothing twice', async () => {
    const { root, edit } = repository(4, { 'src/run.sh': '#!/bin/sh\necho hi\n', 'src/done.ts': `${HEADER}export {}\n`, 'src/data.bin': 'x' })
    const first = await edit()
    expect(first).toMatchObject({ code: 0 })
    expect(first.stdout).toMatch(/^STATUS {5}ITEM +WHAT\nlanded +src\/f0\.ts +[0-9a-f]{12}\n/)
    expect(first.stdout).toMatch(/\n7 items: 5 landed, 2 unchanged\n$/)
    expect(readFileSync(join(root, 'src/f0.ts'), 'utf8')).toBe(`${HEADER}export const f0 = 0\n`)
    expect(readFileSync(join(root, 'src/run.sh'), 'utf8')).toBe('#!/bin/sh\n# SPDX-License-Identifier: MIT\necho hi\n')
    expect([git(root, 'rev-list', '--count', 'main'), git(root, 'rev-list', '--count', '--merges', 'main'), git(root, 'status', '--porcelain'), git(root, 'worktree', 'list').split('\n').length]).toEqual(['6', '0', '', 1])
    expect(await edit()).toMatchObject({ code: 0, stdout: '7 items: 7 done before\n' })
    expect(git(root, 'rev-list', '--count', 'main')).toBe('6')
  })

  test('what the verify command finds wrong comes back, the rest lands; --keep merges nothing', async () => {
    const { root, edit } = repository(3)
    const run = await edit('--verify', '! grep -q SPDX src/f1.ts || { echo "not f1"; false; }', '--json')
    expect(run.code).toBe(1)
    const { items } = JSON.parse(run.stdout) as EditSummary
    expect(items.map(({ item, status }) => [item, status])).toEqual([['src/f0.ts', 'landed'], ['src/f1.ts', 'red'], ['src/f2.ts', 'landed']])
    expect(items[1]?.result.merge).toMatchObject({ status: 'red', log: expect.stringContaining('not f1') })
    const kept = repository(2)
    const all = await kept.edit('--keep')
    expect(all).toMatchObject({ code: 0 })
    expect(all.stdout).toMatch(/2 items: 2 kept\nBranches that are not merged are in worktrees/)
    expect([git(kept.root, 'rev-list', '--count', 'main'), git(kept.root, 'branch', '--list', 'cadre/*').split('\n').length]).toEqual(['1', 2])
    expect(git(root, 'status', '--porcelain')).toBe('')
  })

  test('a user\'s uncommitted change stays, and its file is handed back', async () => {
    const { root, edit } = repository(2)
    writeFileSync(join(root, 'src/f0.ts'), 'mine\n')
    const run = await edit()
    expect(run.code).toBe(1)
    expect(run.stdout).toMatch(/^STATUS +ITEM +WHAT\noverlap +src\/f0\.ts +cadre\/\S+: you have changes in src\/f0\.ts\nlanded +src\/f1\.ts/)
    expect(readFileSync(join(root, 'src/f0.ts'), 'utf8')).toBe('mine\n')
  })

  test('killed half-way and run again it finishes, and nothing is applied twice', async () => {
    const { root, env, cadre } = repository(8)
    const args = ['edit', '--agent', 'license-header', '--over', 'src/**']
    const killed = await cadre(args, { env, during: (child) => void child.stderr?.on('data', (text) => { if (/^[3-5]\/8/m.test(String(text))) child.kill('SIGKILL') }) })
    expect(killed.signal).toBe('SIGKILL')
    expect(await cadre(args, { env })).toMatchObject({ code: 0 })
    for (let i = 0; i < 8; i += 1) expect(readFileSync(join(root, `src/f${i}.ts`), 'utf8')).toBe(`${HEADER}export const f${i} = ${i}\n`)
    expect([git(root, 'rev-list', '--count', 'main'), git(root, 'status', '--porcelain')]).toEqual(['9', ''])
  })

  test('without git it says what is missing', async () => {
    const { cadre } = cliPlace({ 'project/a.ts': 'export {}\n', 'project/package.json': '{"license":"MIT"}' })
    expect(await cadre(['edit', '--agent', 'license-header', '--over', '*.ts'])).toMatchObject({ code: 2, stderr: expect.stringContaining('Make a repository with a first commit.') })
    expect(await cadre(['edit'])).toMatchObject({ code: 2, stderr: expect.stringContaining('Say what to edit: --over') })
  })
})
