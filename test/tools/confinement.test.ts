import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import * as fc from 'fast-check'
import { describe, expect, onTestFinished, test } from 'vitest'

import { confine } from '../../src/tools/reading/confine.ts'
import { hashFile, readFunctions } from '../../src/tools/reading/index.ts'
import { contextOf, testRoot, textOf } from './place.ts'

const { read, ls, glob, grep } = readFunctions

/** A root, and beside it a folder with a secret that nothing may reach. */
function rootWithNeighbour() {
  const { root, put } = testRoot({ 'inside.txt': 'public', 'folder/deep.txt': 'public' })
  const outside = realpathSync(mkdtempSync(join(tmpdir(), 'cadre-outside-')))
  onTestFinished(() => rmSync(outside, { recursive: true, force: true }))
  writeFileSync(join(outside, 'secret.txt'), 'SECRET')
  mkdirSync(join(outside, 'sub'))
  symlinkSync(join(outside, 'secret.txt'), join(root, 'link.txt'))
  symlinkSync(outside, join(root, 'linked'))
  symlinkSync(`../${basename(outside)}/secret.txt`, join(root, 'relative-link.txt'))
  symlinkSync(join(root, 'linked'), join(root, 'folder/link-to-link'))
  symlinkSync(join(outside, 'not-there.txt'), join(root, 'dangling'))
  symlinkSync('loop-b', join(root, 'loop-a'))
  symlinkSync('loop-a', join(root, 'loop-b'))
  symlinkSync('/proc/self/root', join(root, 'proc'))
  symlinkSync('inside.txt', join(root, 'good-link.txt'))
  symlinkSync(`${root}/folder`, join(root, 'good-folder'))
  return { root, outside, put }
}

describe('TOO-02: path tools stay inside the workspace', () => {
  const ways: readonly [string, (place: { root: string; outside: string }) => string][] = [
    ['..', () => '..'],
    ['a path with ..', ({ outside }) => `../${basename(outside)}/secret.txt`],
    ['.. in the middle', ({ outside }) => `folder/../../${basename(outside)}/secret.txt`],
    ['.. behind a folder that does not exist', ({ outside }) => `nope/../../${basename(outside)}/secret.txt`],
    ['an absolute path', ({ outside }) => join(outside, 'secret.txt')],
    ['an absolute path that does not exist', ({ outside }) => join(outside, 'nope/nope.txt')],
    ['the root with .. behind it', ({ root, outside }) => `${root}/../${basename(outside)}/secret.txt`],
    ['a folder whose name begins like the root', ({ root }) => `${root}-other/secret.txt`],
    ['a link to a file', () => 'link.txt'],
    ['a relative link', () => 'relative-link.txt'],
    ['a link as a folder', () => 'linked/secret.txt'],
    ['a link to a link', () => 'folder/link-to-link/secret.txt'],
    ['a file that does not exist, behind a link', () => 'linked/new.txt'],
    ['folders that do not exist, behind a link', () => 'linked/a/b/new.txt'],
    ['a dangling link', () => 'dangling'],
    ['a path through a dangling link', () => 'dangling/x'],
    ['a loop of links', () => 'loop-a'],
    ['a path through a loop of links', () => 'loop-a/x'],
    ['/proc/self/root', ({ outside }) => `/proc/self/root${outside}/secret.txt`],
    ['a link to /proc/self/root', ({ outside }) => `proc${outside}/secret.txt`],
    ['/dev/stdin', () => '/dev/stdin'],
    ['a NUL byte', () => 'inside.txt\0/../../x'],
    ['a trailing slash', () => 'linked/'],
    ['slashes in front', ({ outside }) => `//${outside}/secret.txt`],
  ]
  for (const [name, way] of ways) {
    test(`${name} is refused by read, ls, glob and grep`, async () => {
      const place = rootWithNeighbour()
      const path = way(place)
      const context = contextOf(place.root)
      const answers = [
        await textOf(read, { path }, context), await textOf(ls, { path }, context),
        await textOf(glob, { pattern: '**/*', path }, context), await textOf(grep, { pattern: 'SECRET', path }, context),
      ]
      for (const answer of answers) expect(answer).toMatch(/^Error: Path is outside the workspace: /)
    })
  }

  test('.. behind a link goes back along the path as written, not to where the link leads', async () => {
    const { root, outside } = rootWithNeighbour()
    expect(await textOf(read, { path: `linked/sub/../../${basename(outside)}/secret.txt` }, contextOf(root))).toMatch(/^Error: No such file/)
    expect(await textOf(read, { path: 'linked/../inside.txt' }, contextOf(root))).toBe('1\tpublic')
  })

  test('a glob pattern cannot leave the folder either', async () => {
    const { root, outside } = rootWithNeighbour()
    for (const pattern of [`../${basename(outside)}/*`, `${outside}/*`, 'folder/../../*', './../*', '{..,x}/*', '..']) {
      const answer = await textOf(glob, { pattern }, contextOf(root))
      expect(answer).not.toContain('secret')
    }
    expect(await textOf(glob, { pattern: 'linked/*' }, contextOf(root))).not.toContain('secret')
  })

  test('searches of a folder do not follow links out of it', async () => {
    const { root } = rootWithNeighbour()
    expect(await textOf(grep, { pattern: 'SECRET' }, contextOf(root))).toBe('No matches.')
    expect(await textOf(glob, { pattern: '**/*' }, contextOf(root))).toBe('folder/deep.txt\ninside.txt')
    expect(await textOf(grep, { pattern: 'SECRET', ignored: true }, contextOf(root))).toBe('No matches.')
  })

  test('links that stay inside are followed when named', async () => {
    const { root } = rootWithNeighbour()
    expect(await textOf(read, { path: 'good-link.txt' }, contextOf(root))).toBe('1\tpublic')
    expect(await textOf(read, { path: 'good-folder/deep.txt' }, contextOf(root))).toBe('1\tpublic')
    expect(await textOf(read, { path: `${root}/inside.txt` }, contextOf(root))).toBe('1\tpublic')
    expect(await textOf(read, { path: './folder/../inside.txt' }, contextOf(root))).toBe('1\tpublic')
  })

  test('a root given as a link is the folder it leads to', async () => {
    const { root } = rootWithNeighbour()
    const link = `${root}-link`
    symlinkSync(root, link)
    onTestFinished(() => rmSync(link))
    expect(await textOf(read, { path: 'inside.txt' }, contextOf(link))).toBe('1\tpublic')
    expect(await textOf(read, { path: `${link}/inside.txt` }, contextOf(link))).toBe('1\tpublic')
    expect(await textOf(read, { path: 'link.txt' }, contextOf(link))).toMatch(/^Error: Path is outside/)
  })

  test('a further granted folder is open, by its absolute path, and only it', async () => {
    const { root, outside } = rootWithNeighbour()
    const granted = contextOf(root, 'text', [join(outside, 'sub')])
    writeFileSync(join(outside, 'sub/open.txt'), 'granted')
    expect(await textOf(read, { path: join(outside, 'sub/open.txt') }, granted)).toBe('1\tgranted')
    expect(await textOf(grep, { pattern: 'granted', path: join(outside, 'sub') }, granted)).toBe(`${join(outside, 'sub/open.txt')}\n1:granted`)
    expect(await textOf(read, { path: join(outside, 'secret.txt') }, granted)).toMatch(/^Error: Path is outside/)
    expect(await textOf(read, { path: join(outside, 'sub/../secret.txt') }, granted)).toMatch(/^Error: Path is outside/)
  })

  test('on random paths, what confine returns always lies inside, however links and dots are mixed', () => {
    const { root } = rootWithNeighbour()
    const part = fc.constantFrom('..', '.', '', 'folder', 'linked', 'link.txt', 'proc', 'good-folder', 'dangling', 'loop-a', 'nope', 'inside.txt', 'tmp', 'self', 'root')
    fc.assert(fc.property(fc.array(part, { maxLength: 8 }), fc.boolean(), (parts, absolute) => {
      const path = (absolute ? '/' : '') + parts.join('/')
      let real: string
      try {
        real = confine({ root, paths: [] }, path).real
      } catch (error) {
        expect(String(error)).toMatch(/outside the workspace|Cannot open/)
        return
      }
      expect(real === root || real.startsWith(`${root}/`)).toBe(true)
      const [existing] = [real].map((at) => { try { return realpathSync(at) } catch { return at } })
      expect(existing).toBe(real)
    }), { numRuns: 500 })
  })
})

describe('only regular files are opened', () => {
  test('a FIFO does not hang read or grep, and a socket does not either', async () => {
    const { root } = testRoot({ 'a.txt': 'x' })
    execFileSync('mkfifo', [join(root, 'pipe')])
    const server = createServer().listen(join(root, 'socket'))
    onTestFinished(() => void server.close())
    await new Promise((resolve) => server.once('listening', resolve))
    const context = contextOf(root)
    expect(await textOf(read, { path: 'pipe' }, context)).toBe('Error: pipe is not a regular file (FIFO)')
    expect(await textOf(grep, { pattern: 'x', path: 'pipe' }, context)).toBe('Error: pipe is not a regular file (FIFO)')
    expect(await textOf(read, { path: 'socket' }, context)).toBe('Error: socket is not a regular file (socket or device)')
    expect(await textOf(grep, { pattern: 'x' }, context)).toBe('a.txt\n1:x')
    expect(await textOf(glob, { pattern: '*' }, context)).toBe('a.txt')
    expect(await textOf(ls, {}, context)).toBe('a.txt  1 B\npipe=\nsocket=')
  })

  test('FIFOs and devices in the place of git’s own files do not hang a listing', async () => {
    const { root, put } = testRoot({ 'a.txt': 'x', '.git/HEAD': 'ref: x\n', '.git/objects/x': '', '.git/info/x': '' })
    put('.git/config', '[include]\n\tpath = /dev/zero\n[core]\n\texcludesFile = /dev/zero\n')
    for (const path of ['.git/index', '.git/info/exclude', '.git/commondir']) execFileSync('mkfifo', [join(root, path)])
    expect(await textOf(glob, { pattern: '*' }, contextOf(root))).toBe('a.txt')
    expect(hashFile(root, '.git/index')).toBe(null)
  })

  test('a FIFO as .gitignore does not hang a listing', async () => {
    const { root } = testRoot({ 'a.txt': 'x' })
    execFileSync('mkfifo', [join(root, '.gitignore')])
    expect(await textOf(glob, { pattern: '*' }, contextOf(root))).toBe('a.txt')
  })
})
