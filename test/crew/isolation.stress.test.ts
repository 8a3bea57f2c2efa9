import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import type { JsonObject } from '../../src/core/json.ts'
import { lab, ofType } from '../delegation/lab.ts'
import type { Lab } from '../delegation/lab.ts'
import type { Answer, Script } from '../server/provider-server.ts'
import { cast, openStage, turns } from './stage.ts'

const git = (root: string, ...args: readonly string[]): string =>
  execFileSync('git', ['-c', 'user.name=A', '-c', 'user.email=a@b', ...args], { cwd: root, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] }).trim()

function repository(root: string): void {
  git(root, 'init', '-q', '-b', 'main')
  writeFileSync(join(root, '.gitignore'), '.cadre/\n')
  git(root, 'add', '-A')
  git(root, 'commit', '-q', '-m', 'first')
}

const WRITER = '---\nname: writer\ndescription: writes\ntools: Read, Write, Edit, Bash\nisolation: worktree\n---\nYou write.\n'
const call = (name: string, input: JsonObject) => ({ name, input })
const calls = (...list: readonly ReturnType<typeof call>[]): Answer => ({ calls: list })
const job = (name: string, more: JsonObject = {}) => call('agent', { description: name, prompt: `You are ${name}.`, subagent_type: 'writer', ...more })
const writes = (path: string, content: string): Script => turns(calls(call('write', { path, content })), { text: 'written' })
const FILES = { '.cadre/agents/writer.md': WRITER }
const settings = (more: JsonObject = {}): JsonObject => ({ permissions: { mode: 'acceptEdits' }, ...more })
const resultOf = (place: Pick<Lab, 'events'>, title: string) => ofType(place.events, 'delegation.ended').find(({ data }) => data.result.title === title)?.data.result
const worktrees = (root: string): readonly string[] => git(root, 'worktree', 'list', '--porcelain').split('\n').filter((line) => line.startsWith('worktree ')).slice(1)

async function repo(options: Parameters<typeof lab>[0]): Promise<Lab> {
  const place = await lab({ ...options, files: { ...FILES, ...options?.files } })
  repository(place.root)
  return place
}

describe('WKT-01…03: an agent in a worktree of its own', () => {
  test('what it writes is in its worktree alone, which stays and is named in its result; writers run side by side', async () => {
    const place = await repo({ settings: settings(), script: cast({ go: turns(calls(job('one'), job('two'))), 'You are one.': writes('a.txt', 'x\n'), 'You are two.': writes('b.txt', 'two\n') }) })
    writeFileSync(join(place.root, 'a.txt'), 'uncommitted\n')
    await place.cadre.run({ prompt: 'go' })
    const two = resultOf(place, 'two')
    expect(two?.worktree).toMatchObject({ path: expect.stringMatching(/\.cadre\/worktrees\/two-\w{8}$/), branch: expect.stringMatching(/^cadre\/two-\w{8}$/), baseSha: git(place.root, 'rev-parse', 'main'), behind: 0 })
    expect(two?.note).toBe(`Worktree ${two?.worktree?.path}, branch ${two?.worktree?.branch}, base ${two?.worktree?.baseSha}, behind by 0\n1 uncommitted files of the parent are not in it`)
    expect(readFileSync(join(two?.worktree?.path ?? '', 'b.txt'), 'utf8')).toBe('two\n')
    expect(existsSync(join(place.root, 'b.txt'))).toBe(false)
    expect(readFileSync(join(place.root, 'a.txt'), 'utf8')).toBe('uncommitted\n')
    // The first had never read what it found there.
    expect(ofType(place.events, 'tool.ended').some(({ data }) => data.outcome.text === 'Error: Read a.txt before you change it.')).toBe(true)
    expect(ofType(place.events, 'delegation.queued')).toEqual([])
    const child = place.server.requests.find(({ request }) => request?.task.endsWith('You are two.'))?.request
    expect(JSON.stringify(child?.body['messages'])).toContain(`Folder: ${two?.worktree?.path}`)
  })

  test('without a change it is removed, branch and all', async () => {
    const place = await repo({ settings: settings(), script: cast({ go: turns(calls(job('idle'))), 'You are idle.': turns(calls(call('read', { path: 'a.txt' }))) }) })
    await place.cadre.run({ prompt: 'go' })
    expect(resultOf(place, 'idle')).toMatchObject({ worktree: null, merge: null, note: '' })
    expect([worktrees(place.root), git(place.root, 'branch', '--list', 'cadre/*')]).toEqual([[], ''])
    expect(place.events.map(({ type }) => type).filter((type) => type.startsWith('worktree.'))).toEqual(['worktree.opened', 'worktree.removed'])
  })

  test('where there is no git it runs in the shared root, and says so (WKT-04)', async () => {
    const place = await lab({ files: FILES, settings: settings(), script: cast({ go: turns(calls(job('one'))), 'You are one.': writes('b.txt', 'x\n') }) })
    await place.cadre.run({ prompt: 'go' })
    expect(resultOf(place, 'one')).toMatchObject({ worktree: null, note: 'no git here: ran without a worktree' })
    expect(existsSync(join(place.root, 'b.txt'))).toBe(true)
  })

  test('a call may ask for one, or for none, whatever the type says', async () => {
    const place = await repo({ settings: settings(), script: cast({ go: turns(calls(job('none', { isolation: 'none' }), job('wrong', { isolation: 'remote' }))), 'You are none.': writes('b.txt', 'x\n') }) })
    await place.cadre.run({ prompt: 'go' })
    expect(existsSync(join(place.root, 'b.txt'))).toBe(true)
    expect(ofType(place.events, 'tool.ended').map(({ data }) => data.outcome.text)).toContain('Error: isolation must be worktree or none')
  })

  test('one that is continued works in the same one, and is refused once it is gone (STR-09, STR-10)', async () => {
    let id = ''
    let path = ''
    const place = await repo({
      settings: settings(),
      script: cast({
        go: turns(calls(job('one')), (request) => {
          id = /Agent id: (sa-\w+)/.exec(request.toolResults[0]?.text ?? '')?.[1] ?? ''
          return calls(call('agent', { continue: id, prompt: 'Go on.' }))
        }, () => {
          path = resultOf(place, 'one')?.worktree?.path ?? ''
          git(place.root, 'worktree', 'remove', '--force', '--force', path)
          return calls(call('agent', { continue: id, prompt: 'And on.' }))
        }),
        'You are one.': (request) => request.lastUserText === 'Go on.' && request.toolResults.length < 2 ? calls(call('edit', { path: 'b.txt', old_string: 'x', new_string: 'y' })) : writes('b.txt', 'x\n')(request),
      }),
    })
    await place.cadre.run({ prompt: 'go' })
    const results = ofType(place.events, 'delegation.ended').filter(({ depth }) => depth === 1).map(({ data }) => data.result.worktree?.path)
    expect(new Set(results).size).toBe(1)
    expect(ofType(place.events, 'tool.ended').at(-1)?.data.outcome.text).toBe(`Error: ${id} cannot be continued: its worktree ${path} no longer exists.`)
  })

  test('one that was interrupted goes on there (JRN-05), and is lost when it is gone (JRN-06)', async () => {
    for (const gone of [false, true]) {
      const stage = await openStage({ files: FILES, settings: settings(), script: cast({ go: turns(calls(job('one'))), 'You are one.': turns(calls(call('write', { path: 'b.txt', content: 'x\n' })), calls(call('write', { path: 'c.txt', content: 'y\n' })), { text: 'both' }) }) })
      repository(stage.root)
      await stage.die(({ type, depth, data }) => type === 'turn.started' && depth === 1 && data.turn === 2, (cadre) => cadre.run({ prompt: 'go' }))
      const [path = ''] = worktrees(stage.root).map((line) => line.slice('worktree '.length))
      if (gone) git(stage.root, 'worktree', 'remove', '--force', '--force', path)
      const { cadre, events } = await stage.open()
      await cadre.resume({ session: cadre.journal.sessions()[0]?.id ?? '' })
      const end = resultOf({ events }, 'one')
      if (gone) expect(end).toMatchObject({ status: 'lost', error: expect.stringContaining(`there is no folder ${path} any more.`) })
      else {
        expect(end).toMatchObject({ status: 'completed', worktree: { path } })
        expect(['b.txt', 'c.txt'].map((file) => existsSync(join(path, file)))).toEqual([true, true])
      }
      await stage.close()
    }
  })
})

describe('WKT-09…11: the merge queue', () => {
  const queue = (more: JsonObject = {}) => settings({ worktrees: { merge: 'queue' }, ...more })

  test('lands what agents changed, one commit each, and a conflict is a value with its files', async () => {
    const place = await repo({
      settings: queue(),
      script: cast({
        go: turns(calls(job('one'), job('two'), job('three'))),
        'You are one.': turns(calls(call('read', { path: 'a.txt' })), calls(call('edit', { path: 'a.txt', old_string: 'beta', new_string: 'one' })), { text: 'done' }),
        'You are two.': writes('b.txt', 'two\n'),
        'You are three.': turns(calls(call('read', { path: 'a.txt' })), calls(call('edit', { path: 'a.txt', old_string: 'beta', new_string: 'three' })), { text: 'done' }),
      }),
    })
    await place.cadre.run({ prompt: 'go' })
    const ends = ['one', 'two', 'three'].map((title) => resultOf(place, title))
    expect(ends.map((end) => end?.merge?.status ?? '').toSorted()).toEqual(['conflict', 'landed', 'landed'])
    expect(ends.find((end) => end?.merge?.status === 'conflict')?.merge).toMatchObject({ files: ['a.txt'] })
    expect(readFileSync(join(place.root, 'b.txt'), 'utf8')).toBe('two\n')
    expect(git(place.root, 'rev-list', '--count', 'main')).toBe('3')
    expect(git(place.root, 'rev-list', '--count', '--merges', 'main')).toBe('0')
    expect(git(place.root, 'status', '--porcelain')).toBe('')
    expect(ofType(place.events, 'merge.landed')).toHaveLength(2)
    await place.cadre.close()
    expect(worktrees(place.root)).toHaveLength(1)
  })

  test('verifies on the combined tree: what is red comes back with its log, the others land', async () => {
    const place = await repo({
      settings: queue({ verify: { command: 'test ! -e bad.txt || { echo "bad is here"; exit 1; }', threshold: 0 } }),
      script: cast({ go: turns(calls(job('good'), job('bad'))), 'You are good.': writes('good.txt', 'x\n'), 'You are bad.': writes('bad.txt', 'x\n') }),
    })
    await place.cadre.run({ prompt: 'go' })
    expect(resultOf(place, 'good')?.merge?.status).toBe('landed')
    expect(resultOf(place, 'bad')).toMatchObject({ merge: { status: 'red', log: expect.stringContaining('bad is here') }, note: expect.stringContaining('bad is here') })
    expect([existsSync(join(place.root, 'good.txt')), existsSync(join(place.root, 'bad.txt'))]).toEqual([true, false])
  })

  test('uncommitted changes of the user stay as they are, and a branch that would overlap them is handed back (WKT-10)', async () => {
    const place = await repo({ settings: queue(), script: cast({ go: turns(calls(job('one'), job('two'))), 'You are one.': turns(calls(call('read', { path: 'a.txt' })), calls(call('edit', { path: 'a.txt', old_string: 'beta', new_string: 'one' })), { text: 'done' }), 'You are two.': writes('b.txt', 'two\n') }) })
    writeFileSync(join(place.root, 'a.txt'), 'mine\n')
    await place.cadre.run({ prompt: 'go' })
    expect(resultOf(place, 'one')?.merge).toMatchObject({ status: 'overlap', files: ['a.txt'] })
    expect(resultOf(place, 'two')?.merge?.status).toBe('landed')
    expect(readFileSync(join(place.root, 'a.txt'), 'utf8')).toBe('mine\n')
  })

  test('the branch of an agent that failed is kept, not merged', async () => {
    const place = await repo({ settings: queue(), script: cast({ go: turns(calls(job('one', { max_turns: 1 }))), 'You are one.': writes('b.txt', 'x\n') }) })
    await place.cadre.run({ prompt: 'go' })
    expect(resultOf(place, 'one')).toMatchObject({ status: 'partial', merge: null })
    expect(existsSync(join(place.root, 'b.txt'))).toBe(false)
  })
})
