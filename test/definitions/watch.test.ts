import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { describe, expect, test, vi } from 'vitest'
import type { RegistryOptions } from '../../src/definitions/registry.ts'
import type { Loaded, Place } from './temp.ts'
import { agentFile, load, place, put } from './temp.ts'

/** Time for the file system's events to come, on a busy machine; milliseconds. */
const PATIENCE = { timeout: 10_000, interval: 20 }

/** Longer than one burst, so that what was not told by then is not told. */
const BURST_MS = 600

async function watching(at: Place, options: Partial<RegistryOptions> = {}): Promise<Loaded> {
  const loaded = await load(at, options)
  await loaded.types.watch()
  return loaded
}

/** The change that makes a condition true, and the names it named. */
const until = (condition: () => boolean): Promise<void> => vi.waitFor(() => expect(condition()).toBe(true), PATIENCE)

describe('SCO-09 hot reload', () => {
  test('counts a new, a changed and a removed file, and names them', async () => {
    const at = place()
    const folder = join(at.root, '.cadre/agents')
    put(join(folder, 'a.md'), agentFile('a'))
    const { types, changes } = await watching(at)
    put(join(folder, 'b.md'), agentFile('b'))
    await until(() => types.find('b') !== undefined)
    put(join(folder, 'a.md'), agentFile('a', 'Changed.'))
    await until(() => types.find('a')?.description === 'Changed.')
    rmSync(join(folder, 'b.md'))
    await until(() => types.find('b') === undefined)
    expect(changes).toEqual([
      { added: ['b'], changed: [], removed: [] }, { added: [], changed: ['a'], removed: [] }, { added: [], changed: [], removed: ['b'] },
    ])
  })

  const later: Readonly<Record<string, (at: Place) => string>> = {
    '.claude/agents of the root': ({ root }) => join(root, '.claude/agents'),
    '.cadre/agents of the cwd': ({ root }) => join(root, 'packages/a/.cadre/agents'),
    '.claude/agents half-way up': ({ root }) => join(root, 'packages/.claude/agents'),
    'a folder below an agents folder': ({ root }) => join(root, '.cadre/agents/team/deep'),
    'the user\'s folder': ({ home }) => join(home, 'agents'),
    'the user\'s .claude folder': ({ userHome }) => join(userHome, '.claude/agents'),
    'the managed folder': ({ managed }) => managed,
    'a plugin': ({ home }) => join(home, 'plugins/bikes/agents'),
  }
  for (const [what, folder] of Object.entries(later)) {
    test(`sees ${what}, made after the start, then removed and made again`, async () => {
      const at = place()
      const cwd = join(at.root, 'packages/a')
      mkdirSync(cwd, { recursive: true })
      const { types } = await watching(at, { cwd })
      for (const round of ['first', 'second']) {
        put(join(folder(at), 'x.md'), agentFile('x', round))
        await until(() => types.find('x')?.description === round)
        put(join(folder(at), 'x.md'), agentFile('x', `${round} changed`))
        await until(() => types.find('x')?.description === `${round} changed`)
        rmSync(folder(at), { recursive: true })
        await until(() => types.find('x') === undefined)
      }
    })
  }

  test('sees a whole .cadre folder moved into place, and one moved away', async () => {
    const at = place()
    put(join(at.top, 'made/agents/x.md'), agentFile('x'))
    const { types } = await watching(at)
    renameSync(join(at.top, 'made'), join(at.root, '.cadre'))
    await until(() => types.find('x') !== undefined)
    renameSync(join(at.root, '.cadre'), join(at.top, 'away'))
    await until(() => types.find('x') === undefined)
  })

  test('takes an atomic save for one change, and a burst of files for few reloads', async () => {
    const at = place()
    const folder = join(at.home, 'agents')
    put(join(folder, 'a.md'), agentFile('a'))
    const { types, changes } = await watching(at)
    put(join(folder, '.a.md.swp'), agentFile('a', 'Saved.'))
    renameSync(join(folder, '.a.md.swp'), join(folder, 'a.md'))
    await until(() => types.find('a')?.description === 'Saved.')
    expect(changes).toEqual([{ added: [], changed: ['a'], removed: [] }])
    for (let i = 0; i < 200; i += 1) put(join(folder, `b${i}.md`), agentFile(`b${i}`))
    await until(() => types.list().types.length === 201)
    expect(changes.length).toBeLessThan(20)
    expect(changes.flatMap(({ added }) => added)).toHaveLength(200)
  })

  test('follows links to files and folders, whose targets are saved atomically', async () => {
    const at = place()
    const folder = join(at.home, 'agents')
    mkdirSync(folder, { recursive: true })
    put(join(at.top, 'dotfiles/x.md'), agentFile('x'))
    put(join(at.top, 'dotfiles/team/y.md'), agentFile('y'))
    symlinkSync(join(at.top, 'dotfiles/x.md'), join(folder, 'x.md'))
    symlinkSync(join(at.top, 'dotfiles/team'), join(folder, 'team'))
    const { types } = await watching(at)
    for (const [name, file] of [['x', 'dotfiles/x.md'], ['y', 'dotfiles/team/y.md']] as const) {
      for (const version of ['one', 'two']) {
        put(join(at.top, 'dotfiles/saved'), agentFile(name, version))
        renameSync(join(at.top, 'dotfiles/saved'), join(at.top, file))
        await until(() => types.find(name)?.description === version)
      }
    }
  })

  test('a higher scope takes over a name and gives it back', async () => {
    const at = place()
    put(join(at.builtIn, 'x.md'), agentFile('x', 'built in'))
    const { types, changes } = await watching(at)
    put(join(at.root, '.cadre/agents/x.md'), agentFile('x', 'project'))
    await until(() => types.find('x')?.description === 'project')
    rmSync(join(at.root, '.cadre'), { recursive: true })
    await until(() => types.find('x')?.description === 'built in')
    expect(changes).toEqual([{ added: [], changed: ['x'], removed: [] }, { added: [], changed: ['x'], removed: [] }])
  })

  test('watches the way to the agents folders, never the tree around them', async () => {
    const at = place()
    for (let i = 0; i < 300; i += 1) put(join(at.root, `src/d${i}/file.md`), 'x')
    put(join(at.root, '.cadre/agents/a.md'), agentFile('a'))
    const before = inotifyWatches()
    await watching(at)
    expect(inotifyWatches() - before).toBeLessThan(30)
  })
})

describe('SCO-11 an edit that makes a file unusable', () => {
  const edits = {
    'no YAML': '---\nx: [\n---\n', 'no name': '---\ndescription: x\ncolor: nope\n---\n', 'no frontmatter': 'just text', 'nothing': '',
    'not UTF-8': new Uint8Array([0xff, 0xff]), 'another language': '---js\n---\n',
  }
  for (const [what, content] of Object.entries(edits)) {
    test(`(${what}) keeps the last good version and gives one finding; deleting the file removes the type`, async () => {
      const at = place()
      const file = put(join(at.root, '.cadre/agents/a.md'), agentFile('a'))
      const { types, told, changes } = await watching(at)
      const good = types.find('a')
      writeFileSync(file, content)
      await until(() => told.length > 0)
      await wait(BURST_MS)
      expect(types.find('a')).toBe(good)
      expect(told.map(({ path, remedy }) => [path, remedy.endsWith('(the last good version stays in use)')])).toEqual([[file, true]])
      expect(types.list().skipped.map(({ path }) => path)).toEqual([file])
      put(file, agentFile('a', 'Mended.'))
      await until(() => types.find('a')?.description === 'Mended.')
      writeFileSync(file, content)
      await until(() => told.length === 2)
      rmSync(file)
      await until(() => types.find('a') === undefined)
      expect(changes).toEqual([{ added: [], changed: ['a'], removed: [] }, { added: [], changed: [], removed: ['a'] }])
    })
  }

  test('SCO-10 a type in hand stays what it was through every reload, and cannot be changed', async () => {
    const at = place()
    const file = put(join(at.home, 'agents/a.md'), agentFile('a'))
    const { types } = await watching(at)
    const held = types.require('a')
    const { hash } = held
    put(file, agentFile('a', 'Other.'))
    await until(() => types.find('a')?.hash !== hash)
    expect(held).toMatchObject({ description: 'The a type.', hash })
    expect(Object.isFrozen(held)).toBe(true)
  })
})

test('after close nothing is told, and closing twice or without watching is fine', async () => {
  const at = place()
  const idle = await load(at)
  await idle.types.close()
  const { types, changes, told } = await watching(at)
  await types.close()
  await types.close()
  put(join(at.root, '.cadre/agents/a.md'), agentFile('a', 'x', 'color: nope\n'))
  await wait(BURST_MS)
  expect([changes, told]).toEqual([[], []])
})

test('a listener that throws does not stop the next reload', async () => {
  const at = place()
  let calls = 0
  const { types } = await watching(at, { onReload: () => {
    calls += 1
    throw new Error('listener')
  } })
  put(join(at.home, 'agents/a.md'), agentFile('a'))
  await until(() => calls === 1)
  put(join(at.home, 'agents/b.md'), agentFile('b'))
  await until(() => types.find('b') !== undefined)
})

/** The inotify watches this process holds. */
function inotifyWatches(): number {
  let watches = 0
  for (const file of readdirSync('/proc/self/fdinfo')) {
    try {
      watches += readFileSync(`/proc/self/fdinfo/${file}`, 'utf8').split('inotify wd').length - 1
    } catch {
      continue // the handle that listed the folder is closed by now
    }
  }
  return watches
}
