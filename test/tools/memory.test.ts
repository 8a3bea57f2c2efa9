import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import * as fc from 'fast-check'
import { describe, expect, onTestFinished, test } from 'vitest'
import type { AgentType } from '../../src/core/agent-type.ts'
import { memory } from '../../src/tools/memory.ts'
import { hashFile } from '../../src/tools/reading/index.ts'
import { memoryFolder } from '../../src/tools/remembering/memory-folder.ts'
import { memoryText } from '../../src/tools/remembering/memory-text.ts'
import { mainContext, outcome, say } from './main-side.ts'
import { testRoot } from './place.ts'

/** A project whose type `notes` has a memory folder that does not exist yet. */
function notes() {
  const { root, put } = testRoot()
  const folder = { base: root, path: join(root, '.cadre/agent-memory/notes') }
  return { root, put, folder, context: mainContext({ root, memory: folder }) }
}

describe('TOO-10: memory', () => {
  test('is written, added to, listed and read, in folders of its own', async () => {
    const { context, folder } = notes()
    expect(await say(memory, { action: 'list' }, context)).toBe('Your memory is empty.')
    expect(await say(memory, { action: 'read', path: 'MEMORY.md' }, context)).toBe('Error: No such file in your memory: MEMORY.md')
    expect(existsSync(folder.path)).toBe(false)
    expect(await say(memory, { action: 'write', path: 'MEMORY.md', content: 'one' }, context)).toBe('Wrote MEMORY.md (3 bytes).')
    expect(await say(memory, { action: 'append', path: 'MEMORY.md', content: 'two' }, context)).toBe('Added to MEMORY.md (8 bytes now).')
    expect(await say(memory, { action: 'append', path: 'topics/ü.md', content: 'x\n' }, context)).toBe('Added to topics/ü.md (2 bytes now).')
    expect(await say(memory, { action: 'read', path: 'MEMORY.md' }, context)).toBe('one\ntwo\n')
    expect(await say(memory, { action: 'list' }, context)).toBe('MEMORY.md (8 bytes)\ntopics/ü.md (2 bytes)')
    expect(await say(memory, { action: 'write', path: 'MEMORY.md', content: '' }, context)).toBe('Wrote MEMORY.md (0 bytes).')
    expect(await say(memory, { action: 'read', path: 'MEMORY.md' }, context)).toBe('[the file is empty]')
    expect(readdirSync(folder.path).toSorted()).toEqual(['MEMORY.md', 'topics'])
  })

  test('names what it rests on, so that an answer that used it is not taken as valid after a change', async () => {
    const { root, context } = notes()
    await say(memory, { action: 'write', path: 'sub/a.md', content: 'x' }, context)
    for (const input of [{ action: 'read', path: 'sub/a.md' }, { action: 'list' }, { action: 'append', path: 'sub/a.md', content: 'y' }]) {
      const { reads = [] } = await outcome(memory, input, context)
      expect(reads).toHaveLength(1)
      for (const { path, hash } of reads) expect(hashFile(root, path)).toBe(hash)
    }
  })

  for (const action of ['read', 'write', 'append']) {
    for (const path of ['../secret', '/etc/passwd', 'a/../../secret', '.', '', '..', 'a\0b', 'linked/secret', 'link', 'dangling']) {
      test(`${action} of ${JSON.stringify(path)} stays inside`, async () => {
        const { root, put, folder, context } = notes()
        put('.cadre/agent-memory/secret', 'secret')
        put('outside/secret', 'secret')
        mkdirSync(folder.path, { recursive: true })
        symlinkSync(join(root, 'outside'), join(folder.path, 'linked'))
        symlinkSync(join(root, 'outside/secret'), join(folder.path, 'link'))
        symlinkSync(join(root, 'outside/new'), join(folder.path, 'dangling'))
        expect(await say(memory, { action, path, content: 'mine' }, context)).toMatch(/^Error: (?:Path is outside|\S+ is a link|memory: path: Too small)/)
        expect(readFileSync(join(root, 'outside/secret'), 'utf8')).toBe('secret')
        expect(readFileSync(join(root, '.cadre/agent-memory/secret'), 'utf8')).toBe('secret')
        expect(readdirSync(join(root, 'outside'))).toEqual(['secret'])
        expect(await say(memory, { action: 'list' }, context)).toBe('Your memory is empty.')
      })
    }
  }

  for (const linked of ['.cadre', '.cadre/agent-memory', '.cadre/agent-memory/notes']) {
    test(`a repository that makes ${linked} a link leads the memory nowhere`, async () => {
      const { root, put, folder, context } = notes()
      put('elsewhere/agent-memory/notes/MEMORY.md', 'stolen')
      put('elsewhere/notes/MEMORY.md', 'stolen')
      put('elsewhere/MEMORY.md', 'stolen')
      mkdirSync(dirname(join(root, linked)), { recursive: true })
      symlinkSync(join(root, 'elsewhere'), join(root, linked))
      for (const action of ['list', 'read', 'write', 'append']) {
        expect(await say(memory, { action, path: 'MEMORY.md', content: 'x' }, context)).toMatch(/^Error: Path is outside the workspace/)
      }
      expect(memoryText(folder)).toBe('')
      expect(readFileSync(join(root, 'elsewhere/MEMORY.md'), 'utf8')).toBe('stolen')
    })
  }

  test('a file has at most 25 KB, counted in bytes', async () => {
    const { context } = notes()
    const most = 25 * 1_024
    expect(await say(memory, { action: 'write', path: 'a', content: 'é'.repeat(most / 2) }, context)).toBe('Wrote a (25600 bytes).')
    expect(await say(memory, { action: 'write', path: 'b', content: `x${'é'.repeat(most / 2)}` }, context))
      .toBe('Error: b would have 25601 bytes; a file of your memory has at most 25600. Shorten it, or use another file.')
    expect(await say(memory, { action: 'append', path: 'a', content: 'x' }, context)).toMatch(/^Error: a would have 25603 bytes/)
    expect(await say(memory, { action: 'list' }, context)).toBe('a (25600 bytes)')
  })

  test('what is no file is refused at once', async () => {
    const { folder, context } = notes()
    mkdirSync(join(folder.path, 'folder'), { recursive: true })
    execFileSync('mkfifo', [join(folder.path, 'fifo')])
    for (const action of ['read', 'write', 'append']) {
      expect(await say(memory, { action, path: 'fifo', content: 'x' }, context)).toBe('Error: fifo is a FIFO, not a file')
      expect(await say(memory, { action, path: 'folder', content: 'x' }, context)).toBe('Error: folder is a folder, not a file')
    }
  })

  test('says what is missing, and when a type keeps no memory', async () => {
    const { root, context } = notes()
    expect(await say(memory, { action: 'read' }, context)).toBe('Error: memory: path is required to read')
    expect(await say(memory, { action: 'append', path: 'a' }, context)).toBe('Error: memory: content is required to append')
    expect(await say(memory, { action: 'forget' }, context)).toMatch(/^Error: memory: action: /)
    expect(await say(memory, { action: 'list' }, mainContext({ root }))).toBe('Error: This agent type keeps no memory.')
  })

  test('the appends of several processes at once are all there, each whole', async () => {
    const { root, folder, context } = notes()
    const program = `
      import { memory } from ${JSON.stringify(new URL('../../src/tools/memory.ts', import.meta.url).href)}
      const context = { memory: ${JSON.stringify(folder)} }
      for (let n = 0; n < 40; n += 1) await memory.run({ action: 'append', path: 'log', content: process.argv[1] + ' ' + n + ' ' + '.'.repeat(60) }, context)
    `
    const writers = ['a', 'b', 'c'].map((name) => spawn(process.execPath, ['--input-type=module', '-e', program, name], { stdio: 'inherit', cwd: root }))
    onTestFinished(() => writers.forEach((writer) => writer.kill('SIGKILL')))
    expect(await Promise.all(writers.map(async (writer) => (await once(writer, 'exit'))[0] as number))).toEqual([0, 0, 0])
    const lines = (await say(memory, { action: 'read', path: 'log' }, context)).trimEnd().split('\n')
    const wanted = ['a', 'b', 'c'].flatMap((name) => Array.from({ length: 40 }, (_, n) => `${name} ${n} ${'.'.repeat(60)}`))
    expect(lines.toSorted()).toEqual(wanted.toSorted())
  })

  test('no path a model can write names a file outside the folder', async () => {
    const { root, folder, context } = notes()
    const part = fc.constantFrom('..', '.', '', 'a', 'b', '~', '\\', '%2e%2e', '*')
    await fc.assert(fc.asyncProperty(fc.array(part, { minLength: 1, maxLength: 6 }), async (parts) => {
      await say(memory, { action: 'append', path: parts.join('/'), content: 'x' }, context)
      expect(readdirSync(root).filter((name) => name !== '.cadre')).toEqual([])
      expect(readdirSync(dirname(dirname(folder.path)))).toEqual(['agent-memory'])
      expect(readdirSync(dirname(folder.path))).toEqual([basename(folder.path)])
    }), { examples: [[['a']]] })
  })
})

describe('PRO-05: the memory folder of a type', () => {
  const places = { root: '/work/project', home: '/home/me/.cadre', userHome: '/home/me' }
  const type = (given: Partial<AgentType>) => ({ name: 'notes', scope: 'project' as const, path: '/work/project/.cadre/agents/notes.md', trusted: true, ...given })
  const cases: readonly [Partial<AgentType>, string | null, string | null][] = [
    [{}, null, null],
    [{ memory: 'user' }, '/home/me/.cadre', '/home/me/.cadre/agent-memory/notes'],
    [{ memory: 'project' }, '/work/project', '/work/project/.cadre/agent-memory/notes'],
    [{ memory: 'local' }, '/work/project', '/work/project/.cadre/agent-memory-local/notes'],
    [{ memory: 'project', path: '/work/project/.claude/agents/notes.md' }, '/work/project', '/work/project/.claude/agent-memory/notes'],
    [{ memory: 'local', path: '/work/project/sub/.claude/agents/deep/notes.md' }, '/work/project', '/work/project/.claude/agent-memory-local/notes'],
    [{ memory: 'user', path: '/work/project/.claude/agents/notes.md' }, '/home/me/.claude', '/home/me/.claude/agent-memory/notes'],
    [{ memory: 'user', scope: 'user-claude', path: '/home/me/.claude/agents/notes.md' }, '/home/me/.claude', '/home/me/.claude/agent-memory/notes'],
    [{ memory: 'user', path: '/x/.claude/agents/.cadre/agents/notes.md' }, '/home/me/.cadre', '/home/me/.cadre/agent-memory/notes'],
    [{ memory: 'project', scope: 'code', path: null }, '/work/project', '/work/project/.cadre/agent-memory/notes'],
    [{ memory: 'project', trusted: false }, null, null],
  ]
  for (const [given, base, path] of cases) {
    test(`is ${path ?? 'none'} for ${JSON.stringify(given)}`, () => {
      expect(memoryFolder(type(given), places)).toEqual(path === null ? null : { base, path })
    })
  }

  for (const name of ['..', '.', 'a/b', 'a\\b', '', 'a\0']) {
    test(`a type called ${JSON.stringify(name)} gets none of another's`, () => {
      expect(() => memoryFolder(type({ name, memory: 'user' }), places)).toThrow('has a name that no folder can have')
    })
  }
})

describe('PRO-05: what of MEMORY.md is shown', () => {
  const shown = (content: string | Buffer | null) => {
    const { root, folder } = notes()
    if (content !== null) {
      mkdirSync(folder.path, { recursive: true })
      writeFileSync(join(folder.path, 'MEMORY.md'), content)
    }
    onTestFinished(() => rmSync(root, { recursive: true, force: true }))
    return memoryText(folder)
  }

  test('all of a short one, nothing of a missing one', () => {
    expect(shown('one\ntwo\n')).toBe('one\ntwo')
    expect(shown(null)).toBe('')
  })

  test('200 lines of a long one', () => {
    expect(shown(Array.from({ length: 300 }, (_, n) => `${n + 1}\n`).join('')).split('\n').at(-1)).toBe('200')
  })

  test('25 KB of a wide one, and no half character', () => {
    expect(Buffer.byteLength(shown('€'.repeat(20_000)))).toBe(25_599)
    expect(shown('€'.repeat(20_000))).toMatch(/^€+$/)
  })
})
