import { execFileSync } from 'node:child_process'
import { chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { treeHash } from '../../src/verify/tree-hash.ts'

function tree() {
  const root = mkdtempSync(join(tmpdir(), 'cadre-tree-'))
  onTestFinished(() => rmSync(root, { recursive: true, force: true }))
  const put = (path: string, text: string) => writeFileSync(join(root, path), text)
  put('a', 'one')
  put('b', 'two')
  return { root, put }
}

describe('VER-06: the hash of the changed files', () => {
  test('is the same for the same files, however they are named and ordered, and each counts once (VER-02)', async () => {
    const { root } = tree()
    const one = await treeHash(root, ['a', 'b'])
    expect(one).toMatchObject({ files: ['a', 'b'], gone: new Set() })
    expect(await treeHash(root, ['./b', 'a', 'x/../a', join(root, 'b'), 'a', ''])).toEqual(one)
  })

  for (const [what, change] of [
    ['content', ({ put }) => put('a', 'on')],
    ['a deletion', ({ root }) => rmSync(join(root, 'a'))],
    ['the right to run it', ({ root }) => chmodSync(join(root, 'a'), 0o755)],
    ['a link in its place', ({ root }) => { rmSync(join(root, 'a')); symlinkSync('b', join(root, 'a')) }],
    ['a folder in its place', ({ root }) => { rmSync(join(root, 'a')); mkdirSync(join(root, 'a')) }],
    ['contents that moved from one file to the other', ({ put }) => { put('a', 'two'); put('b', 'one') }],
  ] as readonly (readonly [string, (at: ReturnType<typeof tree>) => void])[]) {
    test(`differs after ${what}`, async () => {
      const at = tree()
      const before = await treeHash(at.root, ['a', 'b'])
      change(at)
      expect((await treeHash(at.root, ['a', 'b'])).hash).not.toBe(before.hash)
    })
  }

  test('differs when another file is in the list, and when a folder in it changed deep inside', async () => {
    const { root, put } = tree()
    mkdirSync(join(root, 'd/e'), { recursive: true })
    put('d/e/f', '1')
    const before = await treeHash(root, ['a', 'd/'])
    expect((await treeHash(root, ['a'])).hash).not.toBe(before.hash)
    put('d/e/f', '2')
    expect((await treeHash(root, ['a', 'd'])).hash).not.toBe(before.hash)
  })

  test('odd files hold nobody up: one that is gone, a pipe, a loop of links, a name with a line break', async () => {
    const { root, put } = tree()
    execFileSync('mkfifo', [join(root, 'pipe')])
    symlinkSync('loop', join(root, 'loop'))
    put('line\nbreak', 'x')
    const found = await treeHash(root, ['gone', 'a/under-a-file', 'pipe', 'loop', 'loop/x', 'line\nbreak'])
    expect(found.gone).toEqual(new Set(['gone', 'a/under-a-file']))
    expect(found.files).toHaveLength(6)
  })
})
