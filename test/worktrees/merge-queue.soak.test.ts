import { existsSync, mkdirSync, rmSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { array, assert, asyncProperty, boolean } from 'fast-check'
import { describe, expect, onTestFinished, test } from 'vitest'
import { greenPrefix } from '../../worktrees/green-prefix.ts'
import { createMergeQueue, type LandResult, type MergeQueue, type MergeQueueOptions } from '../../worktrees/merge-queue.ts'
import { branch, commit, folder, git, put, read, repository, stateOf } from './place.ts'

type Verify = NonNullable<MergeQueueOptions['verify']>

function queue(checkout: string, options: Partial<MergeQueueOptions> = {}): MergeQueue {
  const made = createMergeQueue({ checkout, target: 'main', verify: null, gate: async () => () => {}, ...options })
  onTestFinished(() => made.close())
  return made
}

/** Red while a file `bad` is there; counts its runs. */
function verifier(): { verify: Verify; runs: () => number } {
  let runs = 0
  const verify: Verify = async (root) => {
    runs += 1
    return existsSync(join(root, 'bad')) ? { ok: false, log: `the file bad: ${read(root, 'bad')}` } : { ok: true, log: '' }
  }
  return { verify, runs: () => runs }
}

const isLinear = (root: string): boolean => git(root, 'rev-list', '--merges', 'main') === ''
const landAll = (made: MergeQueue, all: readonly ReturnType<typeof branch>[]): Promise<LandResult[]> => Promise.all(all.map((each) => made.land(each)))

describe('WKT-09: the merge queue', () => {
  test('lands branches in order, linear, authors kept, the checkout with them', async () => {
    const root = repository()
    const all = ['one', 'two', 'three'].map((name) => branch(root, name, { [`${name}.txt`]: `${name}\n` }, `subject of ${name}\n\nbody`))
    const results = await landAll(queue(root), all)
    expect(results.map(({ status }) => status)).toEqual(['landed', 'landed', 'landed'])
    expect(git(root, 'log', '--format=%s|%b|%an', '-3')).toBe(['three', 'two', 'one'].map((name) => `subject of ${name}|body\n|Ann`).join('\n'))
    expect(git(root, 'status', '--porcelain', '-uall')).toBe('')
    expect(read(root, 'two.txt')).toBe('two\n')
    expect(isLinear(root)).toBe(true)
    expect(results[2]).toMatchObject({ commit: git(root, 'rev-parse', 'main'), tip: git(root, 'rev-parse', 'three'), commits: 1 })
  })

  test('verifies the combined tree, not each branch alone', async () => {
    const root = repository()
    const seen: string[] = []
    const verify: Verify = async (at) => {
      seen.push(['one.txt', 'two.txt'].map((name) => existsSync(join(at, name))).join())
      return { ok: true, log: '' }
    }
    await landAll(queue(root, { verify }), ['one', 'two'].map((name) => branch(root, name, { [`${name}.txt`]: name })))
    expect(seen).toEqual(['true,true'])
  })

  test('keeps several commits several, and drops those that are there already', async () => {
    const root = repository()
    const base = git(root, 'rev-parse', 'main')
    git(root, 'checkout', '-q', '-b', 'work')
    commit(root, { 'c.txt': '1\n' }, 'c1')
    commit(root, { 'c.txt': '2\n' }, 'c2')
    commit(root, { 'same.txt': 's\n' }, 'same')
    git(root, 'checkout', '-q', 'main')
    commit(root, { 'same.txt': 's\n' }, 'mine')
    const result = await queue(root).land({ branch: 'work', base, id: 'x', title: 'x' })
    expect(result).toMatchObject({ status: 'landed', commits: 2 })
    expect(git(root, 'log', '--format=%s', 'main')).toBe('c2\nc1\nmine\nfirst')
  })

  test('makes a branch with merges one commit, with its resolution', async () => {
    const root = repository()
    const base = git(root, 'rev-parse', 'main')
    git(root, 'checkout', '-q', '-b', 'work')
    commit(root, { 'a.txt': 'mine\n' }, 'mine')
    git(root, 'checkout', '-q', 'main')
    commit(root, { 'a.txt': 'theirs\n' }, 'theirs')
    git(root, 'checkout', '-q', 'work')
    try { git(root, 'merge', 'main') } catch { /* conflicts, as meant */ }
    commit(root, { 'a.txt': 'both\n' }, 'merged')
    git(root, 'checkout', '-q', 'main')
    expect(await queue(root).land({ branch: 'work', base, id: 'x', title: 'The work' })).toMatchObject({ status: 'landed', commits: 1 })
    expect([read(root, 'a.txt'), isLinear(root), git(root, 'log', '-1', '--format=%s')]).toEqual(['both\n', true, 'The work'])
  })

  test('moves only the ref when no checkout has the target', async () => {
    const root = repository()
    const one = branch(root, 'one', { 'one.txt': '1' })
    git(root, 'checkout', '-q', '--detach')
    const before = stateOf(root)
    expect(await queue(root).land(one)).toMatchObject({ status: 'landed' })
    expect(stateOf(root)).toBe(before)
    expect(git(root, 'show', 'main:one.txt')).toBe('1')
  })

  test('takes in what the user commits while it verifies, and verifies again', async () => {
    const root = repository()
    let runs = 0
    const verify: Verify = async () => {
      if ((runs += 1) === 1) commit(root, { 'user.txt': 'u' }, 'of the user')
      return { ok: true, log: '' }
    }
    expect(await queue(root, { verify }).land(branch(root, 'one', { 'one.txt': '1' }))).toMatchObject({ status: 'landed' })
    expect([runs, git(root, 'log', '--format=%s')]).toEqual([2, 'one\nof the user\nfirst'])
  })

  test('fast-forwards inside of the gate, verifies outside of it', async () => {
    const root = repository()
    let held = false
    const verifiedUnder: boolean[] = []
    const made = queue(root, {
      verify: async () => (verifiedUnder.push(held), { ok: true, log: '' }),
      gate: async () => ((held = true), () => (held = false)),
      onLanding: (id) => expect([id, held]).toEqual(['one', true]),
    })
    expect(await made.land(branch(root, 'one', { x: '1' }))).toMatchObject({ status: 'landed' })
    expect([held, verifiedUnder]).toEqual([false, [false]])
  })

  test('gives names with spaces, newlines and umlauts, links, modes and removals back as they are', async () => {
    const root = repository({ 'a b.txt': '1', 'new\nline': '1', 'ü.txt': '1', 'old/deep/x': '1', 'b': 'b' })
    git(root, 'config', 'core.autocrlf', 'false')
    const at = join(folder(), 'w')
    git(root, 'worktree', 'add', '-q', '-b', 'work', at)
    for (const path of ['a b.txt', 'new\nline', 'ü.txt']) writeFileSync(join(at, path), '2')
    rmSync(join(at, 'old'), { recursive: true })
    put(at, 'old', 'a file now')
    rmSync(join(at, 'b'))
    symlinkSync('ü.txt', join(at, 'b'))
    const base = git(root, 'rev-parse', 'main')
    commit(at, {}, 'all')
    expect(await queue(root).land({ branch: 'work', base, id: 'x', title: 'x' })).toMatchObject({ status: 'landed' })
    expect([git(root, 'status', '--porcelain'), read(root, 'new\nline'), read(root, 'b'), read(root, 'old')]).toEqual(['', '2', '2', 'a file now'])
  })
})

describe('WKT-10: what it hands back', () => {
  test('a conflict is a value with its files; the others land', async () => {
    const root = repository()
    const all = ['one', 'two', 'three', 'four', 'five', 'six', 'seven'].map((name) => branch(root, name, { [`${name}.txt`]: name }))
    const clash = branch(root, 'clash', { 'a.txt': 'theirs\n' })
    commit(root, { 'a.txt': 'mine\n' }, 'of the user')
    const { verify, runs } = verifier()
    const results = await landAll(queue(root, { verify }), [...all.slice(0, 3), clash, ...all.slice(3)])
    expect(results[3]).toEqual({ status: 'conflict', branch: 'clash', base: clash.base, files: ['a.txt'] })
    expect(results.filter(({ status }) => status === 'landed')).toHaveLength(7)
    expect(runs()).toBe(1)
  })

  test('two that conflict with each other: the first lands, the second comes back', async () => {
    const root = repository()
    const results = await landAll(queue(root), [branch(root, 'one', { 'a.txt': '1\n' }), branch(root, 'two', { 'a.txt': '2\n' }), branch(root, 'three', { 'c.txt': '3' })])
    expect(results.map(({ status }) => status)).toEqual(['landed', 'conflict', 'landed'])
  })

  test('of two that conflict, the second lands when the first is red', async () => {
    const root = repository()
    const { verify } = verifier()
    const results = await landAll(queue(root, { verify }), [branch(root, 'one', { 'a.txt': '1\n', bad: 'x' }), branch(root, 'two', { 'a.txt': '2\n' })])
    expect(results.map(({ status }) => status)).toEqual(['red', 'landed'])
  })

  const dirty: Readonly<Record<string, (root: string) => void>> = {
    'changed': (root) => put(root, 'a.txt', 'of the user\n'),
    'staged': (root) => (put(root, 'a.txt', 'of the user\n'), void git(root, 'add', 'a.txt')),
    'staged, then changed back on disk': (root) => (put(root, 'a.txt', 'of the user\n'), git(root, 'add', 'a.txt'), put(root, 'a.txt', 'one\ntwo\nthree\n')),
    'deleted': (root) => rmSync(join(root, 'a.txt')),
    'untracked where a new file is to be': (root) => put(root, 'new/file.txt', 'of the user\n'),
    'ignored where a new file is to be': (root) => (put(root, '.git/info/exclude', '*\n'), put(root, 'new/file.txt', 'of the user\n')),
    'a file where a folder is to be': (root) => put(root, 'new', 'of the user\n'),
    'a folder where a file is to be': (root) => put(root, 'new/file.txt/deep', 'of the user\n'),
    'marked so that git overlooks it': (root) => (git(root, 'update-index', '--assume-unchanged', 'a.txt'), put(root, 'a.txt', 'of the user\n')),
    'a link where a folder is to be': (root) => symlinkSync('/tmp', join(root, 'new')),
  }
  for (const [what, make] of Object.entries(dirty)) {
    test(`a file of the user that is ${what} survives: the branch comes back as overlap, another lands`, async () => {
      const root = repository()
      const clash = branch(root, 'clash', { 'a.txt': 'agent\n', 'new/file.txt': 'agent\n' })
      const other = branch(root, 'other', { 'other.txt': 'o\n' })
      make(root)
      const status = () => git(root, 'status', '--porcelain', '-uall', '--ignored').split('\n').filter((line) => !line.includes(' .cadre/')).join('\n')
      const before = [status(), git(root, 'diff', 'HEAD', '--', 'a.txt')]
      const { verify, runs } = verifier()
      const results = await landAll(queue(root, { verify }), [clash, other])
      expect(results[0]).toMatchObject({ status: 'overlap', files: [expect.stringMatching(/^a\.txt$|^new/)] })
      expect(results[1]).toMatchObject({ status: 'landed' })
      expect([status(), git(root, 'diff', 'HEAD', '--', 'a.txt')]).toEqual(before)
      expect(runs()).toBe(1)
    })
  }

  test('the user\'s other changes, staged and not, stay as they are while branches land', async () => {
    const root = repository({ 'a.txt': 'a\n', 'b.txt': 'b\n', 'c.txt': 'c\n' })
    const one = branch(root, 'one', { 'a.txt': 'agent\n', 'new.txt': 'n' })
    put(root, 'b.txt', 'staged\n')
    git(root, 'add', 'b.txt')
    put(root, 'b.txt', 'and changed\n')
    put(root, 'c.txt', 'changed\n')
    put(root, 'untracked', 'u')
    const before = [git(root, 'status', '--porcelain', '-uall'), git(root, 'diff'), git(root, 'diff', '--cached')]
    expect(await queue(root).land(one)).toMatchObject({ status: 'landed' })
    expect([git(root, 'status', '--porcelain', '-uall'), git(root, 'diff'), git(root, 'diff', '--cached')]).toEqual(before)
    expect(read(root, 'a.txt')).toBe('agent\n')
  })

  test('a file that was only touched is no change of the user', async () => {
    const root = repository()
    const one = branch(root, 'one', { 'a.txt': 'agent\n' })
    utimesSync(join(root, 'a.txt'), 1, 1)
    expect(await queue(root).land(one)).toMatchObject({ status: 'landed' })
    expect(git(root, 'status', '--porcelain')).toBe('')
  })

  test('a user who changes the file while it is verified keeps it', async () => {
    const root = repository()
    const verify: Verify = async () => (put(root, 'a.txt', 'of the user\n'), { ok: true, log: '' })
    const results = await landAll(queue(root, { verify }), [branch(root, 'one', { 'a.txt': 'agent\n' }), branch(root, 'two', { 'c.txt': 'c' })])
    expect(results).toMatchObject([{ status: 'overlap', files: ['a.txt'] }, { status: 'landed' }])
    expect(read(root, 'a.txt')).toBe('of the user\n')
  })

  test('while the user rebases the target, branches come back', async () => {
    const root = repository()
    const one = branch(root, 'one', { 'c.txt': 'c' })
    commit(root, { 'd.txt': 'd' }, 'd')
    git(root, '-c', 'sequence.editor=sed -i s/pick/edit/', 'rebase', '-q', '-i', 'HEAD~1')
    const before = stateOf(root)
    expect(await queue(root).land(one)).toEqual({ status: 'overlap', files: ['c.txt'] })
    expect(stateOf(root)).toBe(before)
  })

  test('a locked index is waited for', async () => {
    const root = repository()
    const one = branch(root, 'one', { 'c.txt': 'c' })
    put(root, '.git/index.lock', '')
    let done = false
    const landing = queue(root).land(one).finally(() => (done = true))
    await new Promise((resolve) => setTimeout(resolve, 300))
    expect(done).toBe(false)
    rmSync(join(root, '.git/index.lock'))
    expect(await landing).toMatchObject({ status: 'landed' })
  })

  for (const [setting, attributes] of [['filter.evil.smudge', 'filter=evil'], ['filter.evil.process', 'filter=evil'], ['merge.evil.driver', 'merge=evil']] as const) {
    test(`${setting} of the repository's own is never run: nothing lands`, async () => {
      const root = repository({ 'a.txt': '1\n2\n3\n', '.gitattributes': `*.txt ${attributes}\n` })
      const one = branch(root, 'one', { 'a.txt': '1\n2\n3\n4\n' })
      commit(root, { 'a.txt': '0\n1\n2\n3\n' })
      const trace = join(folder(), 'ran')
      git(root, 'config', setting, `touch ${trace}; cat`)
      await expect(queue(root).land(one)).rejects.toMatchObject({ code: 'OWN_PROGRAMS', message: expect.stringContaining(setting) })
      expect(existsSync(trace)).toBe(false)
    })
  }

  test('a branch that does not exist fails alone', async () => {
    const root = repository()
    const made = queue(root)
    const [bad, good] = await Promise.allSettled([made.land({ branch: 'nope', base: 'main', id: 'n', title: 'n' }), made.land(branch(root, 'one', { c: 'c' }))])
    expect([bad.status, good]).toMatchObject(['rejected', { value: { status: 'landed' } }])
  })
})

describe('WKT-11: red branches', () => {
  for (const at of [0, 3, 7]) {
    test(`one red of eight, the ${at + 1}. of them: seven land, the red one comes back with its log, in at most 5 runs`, async () => {
      const root = repository()
      put(root, 'user.txt', 'of the user')
      const { verify, runs } = verifier()
      const results = await landAll(queue(root, { verify }), Array.from({ length: 8 }, (_, n) => branch(root, `b${n}`, { [`f${n}`]: 'x', ...(n === at && { bad: `from b${n}` }) })))
      expect(results.map(({ status }) => status)).toEqual(Array.from({ length: 8 }, (_, n) => (n === at ? 'red' : 'landed')))
      expect(results[at]).toEqual({ status: 'red', branch: `b${at}`, log: `the file bad: from b${at}` })
      expect(runs()).toBeLessThanOrEqual(5)
      expect([isLinear(root), git(root, 'rev-list', '--count', 'main'), git(root, 'status', '--porcelain')]).toEqual([true, '8', '?? user.txt'])
    })
  }

  test('at most eight are verified together', async () => {
    const root = repository()
    const { verify, runs } = verifier()
    const results = await landAll(queue(root, { verify }), Array.from({ length: 17 }, (_, n) => branch(root, `b${n}`, { [`f${n}`]: 'x' })))
    expect([results.every(({ status }) => status === 'landed'), runs()]).toEqual([true, 3])
  })

  test('a verifier that throws fails its batch and nothing else', async () => {
    const root = repository()
    const before = stateOf(root)
    let broken = true
    const made = queue(root, { verify: async () => { if (broken) throw new Error('no disk'); return { ok: true, log: '' } } })
    const one = branch(root, 'one', { c: 'c' })
    await expect(made.land(one)).rejects.toThrow('no disk')
    expect(stateOf(root)).toBe(before)
    broken = false
    expect(await made.land(one)).toMatchObject({ status: 'landed' })
  })

  test('what a run leaves behind is gone at the next, but for ignored files', async () => {
    const root = repository({ '.gitignore': 'cache\n', a: 'a' })
    const seen: boolean[][] = []
    const verify: Verify = async (at) => {
      seen.push(['left', 'cache'].map((name) => existsSync(join(at, name))))
      for (const name of ['left', 'cache', 'a']) put(at, name, 'changed')
      expect(git(at, 'show', 'HEAD:a')).toBe('a')
      return { ok: true, log: '' }
    }
    const made = queue(root, { verify })
    for (const name of ['one', 'two']) await made.land(branch(root, name, { [name]: 'x' }))
    expect(seen).toEqual([[false, false], [false, true]])
  })

  test('halving finds the first red of a row in 1 + log2 runs, whatever the row', async () => {
    await assert(asyncProperty(array(boolean(), { minLength: 1, maxLength: 40 }), async (row) => {
      let runs = 0
      const found = await greenPrefix(row.length, async (first) => ((runs += 1), { ok: row.slice(0, first).every(Boolean), log: String(first) }))
      const red = row.indexOf(false)
      expect(found).toEqual(red === -1 ? { green: row.length, log: null } : { green: red, log: String(red + 1) })
      expect(runs).toBeLessThanOrEqual(1 + Math.ceil(Math.log2(row.length)))
    }))
  })
})

describe('Stopping', () => {
  test('a branch whose signal fires is left out, the others land', async () => {
    const root = repository()
    const stop = new AbortController()
    const verify: Verify = async () => (stop.abort(new Error('enough')), { ok: true, log: '' })
    const made = queue(root, { verify })
    const [one, two] = await Promise.allSettled([made.land(branch(root, 'one', { one: '1' }), stop.signal), made.land(branch(root, 'two', { two: '2' }))])
    expect([one, two]).toMatchObject([{ reason: { message: 'enough' } }, { value: { status: 'landed' } }])
    expect([existsSync(join(root, 'one')), existsSync(join(root, 'two'))]).toEqual([false, true])
  })

  test('when nobody waits any more, the verifier is stopped', async () => {
    const root = repository()
    const stop = new AbortController()
    const verify: Verify = (_, signal) => new Promise((_resolve, reject) => { signal.addEventListener('abort', () => reject(signal.reason as Error)); stop.abort(new Error('enough')) })
    const made = queue(root, { verify })
    await expect(made.land(branch(root, 'one', { one: '1' }), stop.signal)).rejects.toThrow('enough')
    await made.close()
  })

  test('closing takes the scratch checkout away', async () => {
    const root = repository()
    mkdirSync(join(root, '.cadre'))
    const made = createMergeQueue({ checkout: root, target: 'main', verify: async (at) => (put(at, 'left'), { ok: true, log: '' }), gate: async () => () => {} })
    await made.land(branch(root, 'one', { one: '1' }))
    await made.close()
    expect(git(root, 'worktree', 'list').split('\n')).toHaveLength(1)
  })
})
