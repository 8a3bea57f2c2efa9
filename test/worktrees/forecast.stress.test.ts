import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { createForecast, type Forecast, type Live } from '../../worktrees/forecast.ts'
import { openWorktrees } from '../../worktrees/worktrees.ts'
import { commit, git, put, repository, stateOf } from './place.ts'

type Scene = { root: string; lives: readonly Live[]; forecast: Forecast; told: string[]; failures: string[]; touch(...which: readonly number[]): Promise<void> }

/** Three agents in worktrees of one repository, in the order they were started. */
async function scene(): Promise<Scene> {
  const root = repository({ 'a.txt': '1\n2\n3\n4\n5\n6\n7\n8\n', 'b.txt': 'b\n', '.gitignore': 'ignored\n' })
  const worktrees = openWorktrees({ checkout: root, owner: 'me', isAlive: () => true })
  const lives: Live[] = []
  for (const [started, id] of ['one', 'two', 'three'].entries()) {
    const worktree = await worktrees.open({ name: id, from: root })
    if ('none' in worktree) throw new Error(worktree.note)
    lives.push({ path: worktree.path, id, title: `Agent ${id}`, started })
  }
  const told: string[] = []
  const failures: string[] = []
  const forecast = createForecast({
    quietMs: 5,
    onOverlap: ({ file, later, earlier }) => void told.push(`${later.id}: ${file} is also being changed by ${earlier.title} (${earlier.id}).`),
    onFailure: ({ id }, error) => void failures.push(`${id}: ${String(error)}`),
  })
  onTestFinished(() => forecast.close())
  return {
    root, lives, forecast, told, failures,
    async touch(...which) {
      for (const at of which) {
        const live = lives[at]
        if (live) forecast.touched(live)
        await forecast.settled()
      }
    },
  }
}

const pathOf = (lives: readonly Live[], at: number): string => lives[at]?.path ?? ''

describe('WKT-12: the forecast', () => {
  test('tells the later-started agent of each pair, whoever wrote last, once for each file', async () => {
    const { lives, told, touch, failures } = await scene()
    put(pathOf(lives, 1), 'a.txt', 'two\n')
    await touch(1)
    expect([told, failures]).toEqual([[], []])
    put(pathOf(lives, 0), 'a.txt', 'one\n')
    await touch(0)
    expect(told).toEqual(['two: a.txt is also being changed by Agent one (one).'])
    put(pathOf(lives, 0), 'a.txt', 'one again\n')
    await touch(0, 1, 0)
    expect(told).toHaveLength(1)
    put(pathOf(lives, 2), 'a.txt', 'three\n')
    await touch(2)
    expect(told.slice(1).toSorted()).toEqual(['three: a.txt is also being changed by Agent one (one).', 'three: a.txt is also being changed by Agent two (two).'])
  })

  test('says nothing of changes that fit, of ignored files, or of the same change twice', async () => {
    const { lives, told, touch } = await scene()
    put(pathOf(lives, 0), 'a.txt', 'x\n2\n3\n4\n5\n6\n7\n8\n')
    put(pathOf(lives, 1), 'a.txt', '1\n2\n3\n4\n5\n6\n7\ny\n')
    for (const at of [0, 1]) put(pathOf(lives, at), 'ignored', `${at}`)
    for (const at of [0, 1]) put(pathOf(lives, at), 'b.txt', 'the same\n')
    await touch(0, 1)
    expect(told).toEqual([])
  })

  test('sees new files, removed files, names with newlines, and what is committed already', async () => {
    const { lives, told, touch } = await scene()
    for (const at of [0, 1]) put(pathOf(lives, at), 'new\nfile', `${at}`)
    put(pathOf(lives, 0), 'b.txt', 'other\n')
    rmSync(join(pathOf(lives, 1), 'b.txt'))
    commit(pathOf(lives, 1), {}, 'both')
    await touch(0, 1)
    expect(told.toSorted()).toEqual(['two: b.txt is also being changed by Agent one (one).', 'two: new\nfile is also being changed by Agent one (one).'])
  })

  test('touches no worktree, index, ref or object of the repository', async () => {
    const { root, lives, touch } = await scene()
    for (const at of [0, 1]) put(pathOf(lives, at), 'a.txt', `${at}\n`)
    git(pathOf(lives, 0), 'add', 'a.txt')
    put(pathOf(lives, 0), 'a.txt', 'and again\n')
    const look = () => [root, ...lives.map(({ path }) => path)].map(stateOf).join() + git(root, 'for-each-ref') + git(root, 'count-objects', '-v')
    const before = look()
    await touch(0, 1)
    expect(look()).toBe(before)
  })

  test('an agent that ended is not spoken of any more', async () => {
    const { lives, told, touch, forecast } = await scene()
    for (const at of [0, 1]) put(pathOf(lives, at), 'a.txt', `${at}\n`)
    await touch(0)
    if (lives[0]) forecast.forget(lives[0])
    await touch(1)
    expect(told).toEqual([])
  })

  test('a worktree that cannot be looked at is told, and harms no other', async () => {
    const { lives, told, failures, touch } = await scene()
    for (const at of [0, 1, 2]) put(pathOf(lives, at), 'a.txt', `${at}\n`)
    writeFileSync(join(pathOf(lives, 1), '.git'), 'gitdir: /nowhere\n')
    await touch(0, 1, 2)
    expect([failures, told]).toEqual([[expect.stringMatching(/^two: .*no worktree of/)], ['three: a.txt is also being changed by Agent one (one).']])
  })
})
