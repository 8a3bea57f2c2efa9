import { execFileSync } from 'node:child_process'
import { chmodSync, existsSync, linkSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, realpathSync, renameSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import * as fc from 'fast-check'
import { describe, expect, onTestFinished, test } from 'vitest'
import { edit } from '../../src/tools/edit.ts'
import { hashFile } from '../../src/tools/reading/index.ts'
import { write } from '../../src/tools/write.ts'
import { openFolder } from '../../src/tools/writing/anchored-folder.ts'
import { replaceFile } from '../../src/tools/writing/replace-file.ts'
import { replaceText } from '../../src/tools/writing/replace-text.ts'
import { agentIn } from './main-side.ts'
import { testRoot } from './place.ts'

const textOf = (...parts: string[]) => readFileSync(join(...parts), 'utf8')

function outsideFolder(): string {
  const outside = realpathSync(mkdtempSync(join(tmpdir(), 'cadre-outside-')))
  onTestFinished(() => rmSync(outside, { recursive: true, force: true }))
  return outside
}

describe('TOO-06: write', () => {
  test('makes a file and its folders, and says so', async () => {
    const { root } = testRoot()
    expect(await agentIn(root).use(write, { path: 'a/b/c.txt', content: 'one\ntwo' })).toBe('Created a/b/c.txt: 2 lines.')
    expect(textOf(root, 'a/b/c.txt')).toBe('one\ntwo')
  })

  test('replaces a file that was read, keeps its mode and leaves nothing else behind', async () => {
    const { root, put } = testRoot({ 'run.sh': 'old\n' })
    chmodSync(put('run.sh', 'old\n'), 0o751)
    const agent = agentIn(root)
    await agent.read('run.sh')
    expect(await agent.use(write, { path: 'run.sh', content: 'new\nlines\n' })).toBe('Wrote run.sh: 2 lines, before 1 line.')
    expect(statSync(join(root, 'run.sh')).mode & 0o7777).toBe(0o751)
    expect(readdirSync(root)).toEqual(['run.sh'])
  })

  test('a new file gets the rights the umask leaves', async () => {
    const { root } = testRoot()
    await agentIn(root).use(write, { path: 'new', content: '' })
    writeFileSync(join(root, 'usual'), '')
    expect(statSync(join(root, 'new')).mode).toBe(statSync(join(root, 'usual')).mode)
  })

  test('a reader that opened the old file goes on reading the old one: content is never written in place', async () => {
    const { root, put } = testRoot({ 'a.txt': 'old' })
    linkSync(put('a.txt', 'old'), join(root, 'other-name'))
    const agent = agentIn(root)
    await agent.read('a.txt')
    await agent.use(write, { path: 'a.txt', content: 'new' })
    expect([textOf(root, 'a.txt'), textOf(root, 'other-name')]).toEqual(['new', 'old'])
  })

  test('the same content again writes nothing', async () => {
    const { root } = testRoot({ 'a.txt': 'same' })
    const agent = agentIn(root)
    await agent.read('a.txt')
    const before = statSync(join(root, 'a.txt')).ino
    expect(await agent.use(write, { path: 'a.txt', content: 'same' })).toBe('a.txt holds exactly this already; nothing was written.')
    expect(statSync(join(root, 'a.txt')).ino).toBe(before)
  })

  test('what is no file is refused at once, and stays what it was', async () => {
    const { root } = testRoot({ 'folder/x': '' })
    execFileSync('mkfifo', [join(root, 'fifo')])
    const server = createServer().listen(join(root, 'socket'))
    onTestFinished(() => void server.close())
    await new Promise((listening) => server.once('listening', listening))
    const agent = agentIn(root)
    expect(await agent.use(write, { path: 'folder', content: '' })).toBe('Error: folder is a folder, not a file')
    expect(await agent.use(write, { path: '.', content: '' })).toBe('Error: . is a folder, not a file')
    expect(await agent.use(write, { path: 'fifo', content: '' })).toBe('Error: fifo is a FIFO, not a file')
    expect(await agent.use(edit, { path: 'fifo', old_string: 'a', new_string: 'b' })).toBe('Error: fifo is a FIFO, not a file')
    expect(await agent.use(write, { path: 'socket', content: '' })).toBe('Error: socket is a socket or device, not a file')
    expect(await agent.use(write, { path: 'folder/x/y', content: '' })).toBe('Error: folder/x/y: x is not a folder')
  })

  test('a name as long as names can be is written', async () => {
    const { root } = testRoot()
    const name = 'n'.repeat(255)
    expect(await agentIn(root).use(write, { path: name, content: 'x' })).toMatch(/^Created/)
    expect(await agentIn(root).use(write, { path: `${name}n`, content: 'x' })).toMatch(/^Error: .*ENAMETOOLONG/)
  })

  test('a stopped agent writes nothing', async () => {
    const { root } = testRoot()
    expect(await agentIn(root, { signal: AbortSignal.abort(new Error('Stopped.')) }).use(write, { path: 'a', content: '' })).toBe('Error: Stopped.')
    expect(readdirSync(root)).toEqual([])
  })
})

describe('TOO-02: nothing outside the workspace is written', () => {
  const ways: readonly [string, (outside: string) => string][] = [
    ['..', (outside) => `../${basename(outside)}/new`],
    ['an absolute path', (outside) => `${outside}/new`],
    ['a linked folder', () => 'linked/new'],
    ['folders that do not exist behind a link', () => 'linked/a/b/new'],
    ['a link to a file', () => 'link'],
    ['a dangling link', () => 'dangling'],
    ['a loop of links', () => 'loop'],
    ['a NUL', () => 'a\0b'],
  ]
  for (const [name, way] of ways) {
    test(`${name} is refused by write and edit`, async () => {
      const { root } = testRoot()
      const outside = outsideFolder()
      writeFileSync(join(outside, 'secret'), 'secret')
      symlinkSync(outside, join(root, 'linked'))
      symlinkSync(join(outside, 'secret'), join(root, 'link'))
      symlinkSync(join(outside, 'new'), join(root, 'dangling'))
      symlinkSync('loop', join(root, 'loop'))
      const agent = agentIn(root)
      expect(await agent.use(write, { path: way(outside), content: 'x' })).toMatch(/^Error: Path is outside the workspace: /)
      expect(await agent.use(edit, { path: way(outside), old_string: 'secret', new_string: 'x' })).toMatch(/^Error: Path is outside the workspace: /)
      expect(readdirSync(outside)).toEqual(['secret'])
      expect(textOf(outside, 'secret')).toBe('secret')
    })
  }

  test('a folder that turns into a link after the check leads nowhere else', () => {
    const { root } = testRoot({ 'sub/keep': '' })
    const outside = outsideFolder()
    const opened = openFolder(root, join(root, 'sub'), { create: true, given: 'sub/x' })
    renameSync(join(root, 'sub'), join(root, 'moved'))
    symlinkSync(outside, join(root, 'sub'))
    replaceFile(opened, 'x', Buffer.from('x'), null, () => undefined)
    opened.close()
    expect(readdirSync(outside)).toEqual([])
    if (process.platform === 'linux') expect(readdirSync(join(root, 'moved'))).toEqual(['keep', 'x'])
    expect(() => openFolder(root, join(root, 'sub', 'deep'), { create: true, given: 'sub/deep/x' })).toThrow('Path is outside the workspace: sub/deep/x')
    expect(readdirSync(outside)).toEqual([])
  })

  test('a link inside the workspace stays, and its target is changed', async () => {
    const { root } = testRoot({ 'real.txt': 'old' })
    symlinkSync('real.txt', join(root, 'link.txt'))
    const agent = agentIn(root)
    await agent.read('link.txt')
    expect(await agent.use(write, { path: 'link.txt', content: 'new' })).toBe('Wrote real.txt: 1 line, before 1 line.')
    expect(textOf(root, 'real.txt')).toBe('new')
    expect(realpathSync(join(root, 'link.txt'))).toBe(join(root, 'real.txt'))
  })

  test('a further granted folder is written to, under its absolute path', async () => {
    const { root } = testRoot()
    const extra = outsideFolder()
    const agent = agentIn(root, { paths: [extra] })
    expect(await agent.use(write, { path: join(extra, 'sub/new'), content: 'x' })).toBe(`Created ${extra}/sub/new: 1 line.`)
    expect(await agent.use(edit, { path: join(extra, 'sub/new'), old_string: 'x', new_string: 'y' })).toBe(`Edited ${extra}/sub/new: line 1.`)
    expect(textOf(extra, 'sub/new')).toBe('y')
  })
})

describe('TOO-06: edit', () => {
  async function edited(content: string | Buffer, input: { old_string: string; new_string: string; replace_all?: boolean }) {
    const { root } = testRoot({ 'a.txt': content })
    const agent = agentIn(root)
    await agent.read('a.txt')
    const said = await agent.use(edit, { path: 'a.txt', ...input })
    return { said, bytes: readFileSync(join(root, 'a.txt')) }
  }

  const cases: readonly [string, string | Buffer, { old_string: string; new_string: string; replace_all?: boolean }, string, string | Buffer][] = [
    ['one match is replaced', 'a\nb\nc\n', { old_string: 'b', new_string: 'B\nB' }, 'Edited a.txt: line 2.', 'a\nB\nB\nc\n'],
    ['no match is said', 'a', { old_string: 'x', new_string: 'y' }, 'Error: old_string not found in a.txt', 'a'],
    ['several matches are refused', 'x x x', { old_string: 'x', new_string: 'y' }, 'Error: old_string matches 3 places in a.txt; add context or set replace_all', 'x x x'],
    ['overlapping matches are several', 'aaa', { old_string: 'aa', new_string: 'b' }, 'Error: old_string matches 2 places in a.txt; add context or set replace_all', 'aaa'],
    ['replace_all replaces all', 'x y x', { old_string: 'x', new_string: 'xx', replace_all: true }, 'Edited a.txt: 2 places, the first in line 1.', 'xx y xx'],
    ['dollar signs mean themselves', 'a', { old_string: 'a', new_string: '$& $1 $$' }, 'Edited a.txt: line 1.', '$& $1 $$'],
    ['characters of patterns mean themselves', 'f(.*)[a-z]', { old_string: '(.*)[a-z]', new_string: '\\d' }, 'Edited a.txt: line 1.', 'f\\d'],
    ['a text can be taken out', 'abc', { old_string: 'b', new_string: '' }, 'Edited a.txt: line 1.', 'ac'],
    ['CRLF stays CRLF, in what is found and what is put in', 'a\r\nb\r\nc\r\n', { old_string: 'a\nb', new_string: 'x\ny\nz' }, 'Edited a.txt: line 1.', 'x\r\ny\r\nz\r\nc\r\n'],
    ['a line put into a CRLF file ends as the others', 'a\r\nb\r\n', { old_string: 'a', new_string: 'a\nA' }, 'Edited a.txt: line 1.', 'a\r\nA\r\nb\r\n'],
    ['in a mixed file each place keeps its kind', 'a\nb\r\nc\n', { old_string: '\n', new_string: '\n\n', replace_all: true }, 'Edited a.txt: 3 places, the first in line 1.', 'a\n\nb\r\n\r\nc\n\n'],
    ['a CRLF counts as one newline', 'a\r\nb', { old_string: '\n', new_string: ' ' }, 'Edited a.txt: line 1.', 'a b'],
    ['a byte order mark survives', '\u{feff}first\nsecond', { old_string: 'first', new_string: 'FIRST' }, 'Edited a.txt: line 1.', '\u{feff}FIRST\nsecond'],
    ['letters beyond ASCII are found', 'é 😀 ü', { old_string: '😀', new_string: '→' }, 'Edited a.txt: line 1.', 'é → ü'],
    ['bytes that are no UTF-8 stay', Buffer.from([0x61, 0xe9, 0x62, 0x0a]), { old_string: 'b', new_string: 'ü' }, 'Edited a.txt: line 1.', Buffer.from([0x61, 0xe9, 0xc3, 0xbc, 0x0a])],
    ['nothing to change is said', 'a', { old_string: 'a', new_string: 'a' }, 'Error: old_string and new_string are the same: nothing to change', 'a'],
    ['an empty old_string is refused', 'a', { old_string: '', new_string: 'b' }, 'Error: edit: old_string: must not be empty; make a new file with write', 'a'],
  ]
  for (const [name, content, input, said, after] of cases) {
    test(name, async () => {
      const result = await edited(content, input)
      expect(result.said).toBe(said)
      expect(result.bytes).toEqual(Buffer.from(after))
    })
  }

  test('a binary file is refused', async () => {
    const { root, put } = testRoot({ 'a.bin': 'a\0b' })
    const agent = agentIn(root)
    agent.seen.set('a.bin', { hash: hashFile(root, 'a.bin') ?? '', text: '' })
    expect(await agent.use(edit, { path: 'a.bin', old_string: 'a', new_string: 'b' })).toBe('Error: a.bin is binary (3 bytes)')
    expect(readFileSync(put('a.bin', 'a\0b'), 'utf8')).toBe('a\0b')
  })

  test('a missing file is said with similar names, and no folder is made', async () => {
    const { root } = testRoot({ 'config.ts': '' })
    const agent = agentIn(root)
    expect(await agent.use(edit, { path: 'confg.ts', old_string: 'a', new_string: 'b' })).toBe('Error: No such file: confg.ts. Similar: config.ts')
    expect(await agent.use(edit, { path: 'sub/a.ts', old_string: 'a', new_string: 'b' })).toMatch(/^Error: No such file: sub\/a\.ts/)
    expect(readdirSync(root)).toEqual(['config.ts'])
  })

  test('a replacement touches nothing but its places, whatever the bytes', () => {
    const piece = fc.uint8Array({ maxLength: 40 }).map((bytes) => Buffer.from(bytes).toString('latin1').replaceAll('@', ''))
    fc.assert(fc.property(fc.array(piece, { minLength: 1, maxLength: 5 }), fc.string({ unit: 'grapheme' }).filter((text) => !/[@\r\n]/.test(text)), (pieces, put) => {
      const before = Buffer.from(pieces.join('@'), 'latin1')
      const { bytes, places, replaced } = replaceText(before, '@', put)
      expect([places, replaced]).toEqual([pieces.length - 1, pieces.length - 1])
      expect(bytes).toEqual(Buffer.from(pieces.join(Buffer.from(put).toString('latin1')), 'latin1'))
    }))
  })

  test('a text as long as a file is found, and one that overlaps itself all the way does not take for ever', () => {
    const long = 'some words (x)\n'.repeat(100_000)
    expect(replaceText(Buffer.from(`${long.replaceAll('\n', '\r\n')}z`), long, '').bytes.toString()).toBe('z')
    const { places, replaced } = replaceText(Buffer.alloc(8_000_000, 'a'), 'a'.repeat(1_000_000), 'b')
    expect(replaced).toBe(8)
    expect(places).toBeGreaterThan(1)
  })

  test('lines as tools show them are found, whatever their endings', () => {
    const line = fc.constantFrom('a', 'bb', '', 'é')
    const file = fc.array(fc.tuple(line, fc.constantFrom('\n', '\r\n')), { minLength: 1, maxLength: 8 })
    fc.assert(fc.property(file, (lines) => {
      const before = Buffer.from(`<${lines.flat().join('')}>`)
      const shown = lines.map(([text]) => `${text}\n`).join('')
      const there = replaceText(before, `<${shown}>`, 'X')
      expect(there.bytes.toString()).toBe('X')
      expect(there.replaced).toBe(1)
    }))
  })
})

describe('TOO-07: a file is changed only as this agent last saw it', () => {
  for (const tool of [write, edit]) {
    const input = { path: 'a.txt', content: 'new', old_string: 'old', new_string: 'new' }

    test(`${tool.name} refuses a file that was never read`, async () => {
      const { root } = testRoot({ 'a.txt': 'old' })
      expect(await agentIn(root).use(tool, input)).toBe('Error: Read a.txt before you change it.')
      expect(textOf(root, 'a.txt')).toBe('old')
    })

    test(`${tool.name} refuses a file that changed, and shows how`, async () => {
      const { root, put } = testRoot({ 'a.txt': 'one\nold\nthree\n' })
      const agent = agentIn(root)
      await agent.read('a.txt')
      put('a.txt', 'one\nold\nTHREE\n')
      expect(await agent.use(tool, input)).toBe('Error: a.txt changed since you read it:\n@@ -1,3 +1,3 @@\n one\n old\n-three\n+THREE')
      expect(textOf(root, 'a.txt')).toBe('one\nold\nTHREE\n')
      await agent.read('a.txt')
      expect(await agent.use(tool, input)).not.toMatch(/^Error/)
    })
  }

  test('an agent may change again what it wrote itself, without reading', async () => {
    const { root } = testRoot()
    const agent = agentIn(root)
    await agent.use(write, { path: 'a', content: 'one' })
    expect(await agent.use(edit, { path: 'a', old_string: 'one', new_string: 'two' })).toBe('Edited a: line 1.')
    expect(await agent.use(edit, { path: './x/../a', old_string: 'two', new_string: 'three' })).toBe('Edited a: line 1.')
    expect(textOf(root, 'a')).toBe('three')
  })

  test('the hash an outcome carries is that of the file', async () => {
    const { root } = testRoot()
    const agent = agentIn(root)
    await agent.use(write, { path: 'sub/a', content: 'é\r\n' })
    expect(agent.seen.get('sub/a')?.hash).toBe(hashFile(root, 'sub/a'))
  })

  test('of two agents that read the same file only the first changes it', async () => {
    const { root } = testRoot({ 'a.txt': 'old' })
    const agents = [agentIn(root), agentIn(root), agentIn(root)]
    for (const agent of agents) await agent.read('a.txt')
    const said = await Promise.all(agents.map((agent, n) => agent.use(write, { path: 'a.txt', content: `by ${n}` })))
    expect(said.filter((text) => text.startsWith('Wrote'))).toHaveLength(1)
    expect(said.filter((text) => text.startsWith('Error: a.txt changed since you read it:\n@@'))).toHaveLength(2)
  })

  test('of two agents that make the same file only the first does', async () => {
    const { root } = testRoot()
    const said = await Promise.all([agentIn(root), agentIn(root)].map((agent) => agent.use(write, { path: 'a.txt', content: 'mine' })))
    expect(said.toSorted()).toEqual(['Created a.txt: 1 line.', 'Error: Read a.txt before you change it.'])
  })

  test('a change that comes while the new content is on its way is not lost', () => {
    const { root, put } = testRoot({ a: 'old' })
    const folder = openFolder(root, root, { create: false, given: 'a' })
    onTestFinished(() => folder.close())
    const stats = statSync(join(root, 'a'))
    expect(() => replaceFile(folder, 'a', Buffer.from('mine'), stats, () => { put('a', 'theirs'); throw new Error('changed') })).toThrow('changed')
    expect(textOf(root, 'a')).toBe('theirs')
    expect(readdirSync(root)).toEqual(['a'])
  })

  test('a new file never replaces one that came meanwhile', () => {
    const { root, put } = testRoot()
    const folder = openFolder(root, root, { create: false, given: 'a' })
    onTestFinished(() => folder.close())
    put('a', 'theirs')
    expect(() => replaceFile(folder, 'a', Buffer.from('mine'), null, () => undefined)).toThrow('EEXIST')
    expect(textOf(root, 'a')).toBe('theirs')
    expect(readdirSync(root)).toEqual(['a'])
  })

  test('the diff has 4,000 characters and says how many more there are', async () => {
    const { root, put } = testRoot({ 'a.txt': `${'x'.repeat(99)}\n`.repeat(100) })
    const agent = agentIn(root)
    await agent.read('a.txt')
    put('a.txt', `${'y'.repeat(99)}\n`.repeat(100))
    const [head = '', ...diff] = (await agent.use(write, { path: 'a.txt', content: '' })).split('\n')
    expect(head).toBe('Error: a.txt changed since you read it:')
    expect(diff.at(-1)).toMatch(/^\[\d+ more characters\]$/)
    expect(diff.slice(0, -1).join('\n')).toHaveLength(4_000)
  })

  test('without the text that was read the refusal shows how the file begins now', async () => {
    const { root, put } = testRoot({ 'a.txt': 'old' })
    const agent = agentIn(root, { files: { hashOf: () => 'another', seenText: () => null } })
    put('a.txt', 'new text')
    expect(await agent.use(write, { path: 'a.txt', content: '' }))
      .toBe('Error: a.txt changed since you read it:\n[what you read is not known any more; it begins now:]\nnew text')
  })

  test('a file that became binary is not shown', async () => {
    const { root, put } = testRoot({ 'a.txt': 'old' })
    const agent = agentIn(root)
    await agent.read('a.txt')
    put('a.txt', 'b\0')
    expect(await agent.use(write, { path: 'a.txt', content: '' })).toBe('Error: a.txt changed since you read it:\n[it is binary now, 2 bytes]')
  })

  test('a file that was read and is gone may be written anew', async () => {
    const { root } = testRoot({ 'a.txt': 'old' })
    const agent = agentIn(root)
    await agent.read('a.txt')
    rmSync(join(root, 'a.txt'))
    expect(await agent.use(write, { path: 'a.txt', content: 'new' })).toBe('Created a.txt: 1 line.')
    expect(existsSync(join(root, 'a.txt'))).toBe(true)
  })

  test.skipIf(process.getuid?.() === 0)('a read-only file is refused', async () => {
    const { root, put } = testRoot({ 'a.txt': 'old' })
    chmodSync(put('a.txt', 'old'), 0o444)
    const agent = agentIn(root)
    await agent.read('a.txt')
    expect(await agent.use(write, { path: 'a.txt', content: 'new' })).toBe('Error: a.txt is read-only')
  })

  test('two texts with nothing in common do not hold up the others', async () => {
    const random = (seed: number) => Array.from({ length: 40_000 }, (_, n) => `${seed} ${n}\n`).join('')
    const { root, put } = testRoot({ 'a.txt': random(1) })
    const agent = agentIn(root)
    await agent.read('a.txt')
    put('a.txt', random(2))
    mkdirSync(join(root, 'other'))
    expect(await agent.use(write, { path: 'a.txt', content: '' })).toMatch(/^Error: a\.txt changed since you read it:\n\[the two differ too much to compare; it begins now:\]\n2 0\n/)
  })
})
