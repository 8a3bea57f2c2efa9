import { execFileSync } from 'node:child_process'
import { mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { CadreError } from '../../src/core/errors.ts'
import { agentFile, load, names, place, put } from './temp.ts'

const body = (name: string, where: string) => agentFile(name, `From ${where}.`)

describe('SCO-01 the first definition of a name wins', () => {
  test('managed, code, project, user, ~/.claude, plugins, built-in, in this order; the others stay listed as shadowed', async () => {
    const at = place()
    const places = {
      managed: at.managed, cadre: join(at.root, '.cadre/agents'), claude: join(at.root, '.claude/agents'),
      user: join(at.home, 'agents'), 'user-claude': join(at.userHome, '.claude/agents'), 'built-in': at.builtIn,
    }
    for (const [where, folder] of Object.entries(places)) put(join(folder, 'x.md'), body('x', where))
    const code = { x: { description: 'From code.', prompt: 'p' } }
    for (const where of ['managed', 'code', 'cadre', 'claude', 'user', 'user-claude', 'built-in']) {
      const { types } = await load(at, { code: where === 'managed' || where === 'code' ? code : undefined })
      expect(types.find('x')?.description).toBe(`From ${where}.`)
      const folder = Object.entries(places).find(([name]) => name === where)?.[1]
      if (folder) rmSync(folder, { recursive: true })
    }
  })

  test('TYP-21 the listing names winners, what they shadow, and the folders in order', async () => {
    const at = place()
    put(join(at.root, '.cadre/agents/x.md'), body('x', 'project'))
    put(join(at.home, 'agents/x.md'), body('x', 'user'))
    put(join(at.home, 'agents/bad.md'), '---\nname: bad name\ndescription: x\n---\n')
    const { types, lines } = await load(at)
    const { shadowed, skipped, folders } = types.list()
    expect(shadowed.map(({ type, by }) => [type.description, by.description])).toEqual([['From user.', 'From project.']])
    expect(skipped.map(({ path, reason }) => [path, reason.severity])).toEqual([[join(at.home, 'agents/bad.md'), 'error']])
    expect(folders.map(({ scope }) => scope)).toEqual(['managed', 'project', 'project', 'user', 'user-claude', 'built-in'])
    expect(lines()).toEqual([
      'user/.cadre/agents/bad.md:2: error: name "bad name" cannot be used; use letters, digits and "-", for example "bad-name"',
    ])
  })
})

describe('SCO-02 project folders', () => {
  test('are those of every directory from the cwd up to the root, nearest first, .cadre before .claude', async () => {
    const at = place()
    const cwd = join(at.root, 'packages', 'a')
    mkdirSync(cwd, { recursive: true })
    const folders = [cwd, join(at.root, 'packages'), at.root].flatMap((folder) => [
      join(folder, '.cadre/agents'), join(folder, '.claude/agents'),
    ])
    for (const folder of folders) put(join(folder, 'x.md'), body('x', folder))
    put(join(at.top, '.cadre/agents/above.md'), body('above', 'above the root'))
    put(join(at.root, 'packages/b/.cadre/agents/beside.md'), body('beside', 'beside the cwd'))
    for (const folder of folders) {
      const loaded = await load(at, { cwd })
      expect(loaded.types.find('x')?.description).toBe(`From ${folder}.`)
      expect(names(loaded)).toEqual(['x'])
      rmSync(folder, { recursive: true })
    }
  })

  test('SCO-03 of the main checkout count after those of the worktree', async () => {
    const at = place()
    const main = join(at.top, 'main')
    put(join(main, '.cadre/agents/x.md'), body('x', 'main'))
    put(join(main, '.cadre/agents/y.md'), body('y', 'main'))
    put(join(main, 'sub/.claude/agents/z.md'), body('z', 'main sub'))
    put(join(at.root, '.claude/agents/x.md'), body('x', 'worktree'))
    mkdirSync(join(at.root, 'sub'))
    const { types } = await load(at, { mainCheckout: main, cwd: join(at.root, 'sub') })
    expect(['x', 'y', 'z'].map((name) => types.find(name)?.description)).toEqual(['From worktree.', 'From main.', 'From main sub.'])
  })

  test('SCO-04 leave out every .claude folder when asked to', async () => {
    const at = place()
    put(join(at.root, '.claude/agents/a.md'), agentFile('a'))
    put(join(at.userHome, '.claude/agents/b.md'), agentFile('b'))
    put(join(at.root, '.cadre/agents/c.md'), agentFile('c'))
    expect(names(await load(at, { claudeFolders: false }))).toEqual(['c'])
  })

  test('of an untrusted root load without what is risky, while the user\'s own keep it, also from within the home folder', async () => {
    const at = place()
    const risky = 'permissionMode: acceptEdits\n'
    put(join(at.root, '.cadre/agents/theirs.md'), agentFile('theirs', 'x', risky))
    put(join(at.home, 'agents/mine.md'), agentFile('mine', 'x', risky))
    const { types } = await load(at, { trusted: false })
    expect([types.find('theirs')?.permissionMode, types.find('mine')?.permissionMode]).toEqual([undefined, 'acceptEdits'])
    const home = await load(at, { trusted: false, root: at.userHome, cwd: at.userHome })
    expect(home.types.find('mine')).toMatchObject({ scope: 'user', permissionMode: 'acceptEdits' })
  })
})

describe('SCO-05 plugins', () => {
  test('name their types <plugin>:<name> and, where free, <name>', async () => {
    const at = place()
    put(join(at.home, 'plugins/bikes/agents/mend.md'), agentFile('mend'))
    put(join(at.home, 'plugins/boats/agents/mend.md'), agentFile('mend'))
    put(join(at.home, 'plugins/boats/agents/sail.md'), agentFile('sail'))
    put(join(at.home, 'agents/sail.md'), agentFile('sail'))
    put(join(at.top, 'My Plugin/agents/fly.md'), agentFile('fly'))
    const { types } = await load(at, { plugins: [join(at.top, 'My Plugin')] })
    expect(types.list().types.map(({ type, alsoNamed }) => [type.name, ...alsoNamed])).toEqual([
      ['sail'], ['bikes:mend', 'mend'], ['boats:mend'], ['boats:sail'], ['my-plugin:fly', 'fly'],
    ])
    expect(types.find('mend')?.name).toBe('bikes:mend')
    expect(types.find('boats:sail')?.name).toBe('boats:sail')
    expect(types.find('sail')?.scope).toBe('user')
  })
})

describe('TYP-02 a folder', () => {
  test('TYP-15 the first of a name by byte order of the path wins, the other is named with both files', async () => {
    const at = place()
    const folder = join(at.home, 'agents')
    for (const name of ['b.md', 'b/a.md', 'B.md', 'z.md', 'ä.md']) put(join(folder, name), agentFile('same', name))
    const { types, lines } = await load(at)
    expect(types.find('same')?.description).toBe('B.md')
    expect(types.list().shadowed.map(({ type }) => type.description)).toEqual(['b.md', 'b/a.md', 'z.md', 'ä.md'])
    expect(lines()[0]).toBe('user/.cadre/agents/b.md:1: warning: type "same" is defined in user/.cadre/agents/B.md '
      + 'and again in user/.cadre/agents/b.md; the first by path counts; rename or remove the other')
  })

  test('is read through links, each real folder once, and survives loops, pipes and links to nowhere', async () => {
    const at = place()
    const folder = join(at.home, 'agents')
    put(join(folder, 'a.md'), agentFile('a'))
    put(join(at.top, 'shared/b.md'), agentFile('b'))
    symlinkSync(join(at.top, 'shared'), join(folder, 'one'))
    symlinkSync(join(at.top, 'shared'), join(folder, 'two'))
    symlinkSync(folder, join(folder, 'loop'))
    symlinkSync(join(folder, 'self.md'), join(folder, 'self.md'))
    symlinkSync(join(at.top, 'nowhere.md'), join(folder, 'nowhere.md'))
    symlinkSync(join(at.top, 'shared/b.md'), join(folder, 'zlink.md'))
    execFileSync('mkfifo', [join(folder, 'pipe.md')])
    const loaded = await load(at)
    expect(names(loaded)).toEqual(['a', 'b'])
    expect(loaded.types.list().shadowed).toHaveLength(1)
    const about = loaded.told.map(({ path, severity, message }) => `${path.slice(folder.length + 1)} ${severity}: ${message.slice(0, 25)}`)
    expect(about.toSorted()).toEqual([
      'nowhere.md warning: cannot be read: ENOENT: n', 'pipe.md warning: is not a regular file',
      'self.md warning: cannot be read: ELOOP: to',
      'zlink.md warning: type "b" is defined in /t',
    ])
  })

  test('that is a file, or holds a file over 1 MB, gives a finding and stops nothing', async () => {
    const at = place()
    put(join(at.root, '.cadre/agents'), 'not a folder')
    put(join(at.home, 'agents/large.md'), agentFile('large').padEnd(1_048_577, 'x'))
    put(join(at.home, 'agents/most.md'), agentFile('most').padEnd(1_048_576, 'x'))
    const loaded = await load(at)
    expect(names(loaded)).toEqual(['most'])
    expect(loaded.lines()).toEqual([
      'user/.cadre/agents/large.md:1: error: the file is over 1 MB; '
        + 'skipped; an agent file is a role prompt, move the rest to files it can read',
    ])
  })
})

describe('TYP-16 the name of a type', () => {
  test('matches exactly first, then ignoring case, spaces, "-", "_" and "."', async () => {
    const at = place()
    for (const name of ['code-reviewer', 'Code_Reviewer', 'general', 'explorer']) put(join(at.home, `agents/${name}.md`), agentFile(name))
    const { types } = await load(at)
    const found = (written: string) => types.find(written)?.name
    expect([
      'code-reviewer', 'Code_Reviewer', 'CODE REVIEWER', 'code.reviewer',
    ].map(found)).toEqual(['code-reviewer', 'Code_Reviewer', 'Code_Reviewer', 'Code_Reviewer'])
    expect(['', '-', 'constructor', '__proto__'].map(found)).toEqual([undefined, undefined, undefined, undefined])
    expect(types.require(undefined).name).toBe('general')
  })

  test('unknown is an error that lists the names a model may use', async () => {
    const at = place()
    for (const name of ['b', 'a', 'verifier']) put(join(at.builtIn, `${name}.md`), agentFile(name))
    const { types } = await load(at)
    const error = new CadreError('UNKNOWN_TYPE', 'Unknown sub-agent type "c". Available: a, b.')
    expect(() => types.require('c')).toThrow(error)
    expect(() => types.require('verifier')).toThrow('Unknown sub-agent type "verifier". Available: a, b.')
    expect(types.find('verifier')?.name).toBe('verifier')
    expect(types.list().types.map(({ type, startable }) => [type.name, startable])).toEqual([['a', true], ['b', true], ['verifier', false]])
  })

  test('TYP-17 general-purpose, Explore and fork mean general, explorer and a forked general, unless a type has that name', async () => {
    const at = place()
    for (const name of ['general', 'explorer']) put(join(at.builtIn, `${name}.md`), agentFile(name))
    const { types } = await load(at)
    expect(['general-purpose', 'Explore', 'fork'].map((name) => types.find(name)?.name)).toEqual(['general', 'explorer', 'general'])
    expect([types.isFork('fork'), types.isFork('general')]).toEqual([true, false])
    put(join(at.home, 'agents/fork.md'), agentFile('fork'))
    const own = await load(at)
    expect([own.types.find('fork')?.name, own.types.isFork('fork')]).toEqual(['fork', false])
  })
})

describe('TYP-20 the list of types in a system prompt', () => {
  test('has one line per type, sorted, the same bytes every time, without the verifier', async () => {
    const at = place()
    put(join(at.builtIn, 'verifier.md'), agentFile('verifier'))
    put(join(at.home, 'agents/b.md'), agentFile('b', '"first\\n\\n  second"'))
    put(join(at.home, 'agents/a.md'), agentFile('a'))
    const { types } = await load(at)
    const all = types.list().types.map(({ type }) => type)
    expect(types.segment(all)).toBe('- a: The a type.\n- b: first second')
    expect(types.segment(all.toReversed())).toBe(types.segment(all))
  })

  test('above 15,000 tokens is a warning, once, that names the longest', async () => {
    const at = place()
    put(join(at.home, 'agents/short.md'), agentFile('short'))
    for (const name of ['long', 'longer', 'longest']) {
      put(join(at.home, `agents/${name}.md`), agentFile(name, 'word '.repeat(4_000 + name.length)))
    }
    const { types, told } = await load(at)
    const all = types.list().types.map(({ type }) => type)
    types.segment(all)
    types.segment(all)
    expect(told.map(({ message }) => message)).toEqual([
      'the list of agent types takes about 15035 tokens of every agent that can delegate; the longest are longest, longer, long',
    ])
  })
})

test('TYP-19 each finding is told once at load, and again only for a new version of the file', async () => {
  const at = place()
  put(join(at.home, 'agents/a.md'), agentFile('a', 'x', 'maxTurns: 0\ncolor: nope\n'))
  const { told } = await load(at)
  expect(told.map(({ line }) => line)).toEqual([4, 5])
  writeFileSync(join(at.home, 'agents/a.md'), agentFile('a', 'x', 'maxTurns: 0\n'))
  expect((await load(at)).told.map(({ line }) => line)).toEqual([4])
})
