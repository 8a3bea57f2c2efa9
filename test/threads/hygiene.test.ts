import { mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'

import { createThreads } from '../../src/threads/runner.ts'
import { brief, local, MISBEHAVING, never, REAL, scripted } from './scripted.ts'

describe('SHL-08: a pooled thread keeps nothing between agents', () => {
  const one = createThreads({ entry: MISBEHAVING, max: 1 })
  afterAll(() => one.close())

  test('it starts without the environment of the host', async () => {
    process.env['CADRE_TEST_SECRET'] = 'secret'
    const [outcome] = await one.calls({ brief: brief(), calls: [local('env')], signal: never() })
    delete process.env['CADRE_TEST_SECRET']
    expect(outcome?.text).toBe('{}')
  })

  for (const tool of ['leaveEnv', 'leaveCwd', 'leavePrototype']) {
    test(`a tool cannot ${tool.replace('leave', 'leave a changed ').toLowerCase()}`, async () => {
      const { host, handed } = scripted([[local(tool)], [local('env')]])
      await one.run({ brief: brief(), host, signal: never() })
      expect(handed[1]?.[0]).toMatchObject({ ok: false, text: expect.stringMatching(/^Error: /) })
      expect(handed[2]?.[0]?.text).toBe('{}')
    })
  }

  test('a global that a tool left is gone for the next agent', async () => {
    const { host, handed } = scripted([[local('leaveGlobal')], [local('seeGlobal')]])
    await one.run({ brief: brief('a1'), host, signal: never() })
    expect(handed.slice(1).map(([outcome]) => outcome?.text)).toEqual(['left a global', 'the secret'])
    for (const tool of ['seeGlobal', 'leaveGlobal', 'seeGlobal']) {
      const [outcome] = await one.calls({ brief: brief('a2'), calls: [local(tool)], signal: never() })
      expect(outcome?.text).not.toBe('the secret')
    }
    expect(one.stats().threads).toBe(1)
  })

  test('a stopped agent is answered for only when its last read has ended', async () => {
    const stop = new AbortController()
    const asked = Promise.withResolvers<void>()
    const { host } = scripted([[local('patient', { begun: new Int32Array(new SharedArrayBuffer(4)) } as never), { ...local('bash'), local: false }]])
    const run = one.run({ brief: brief(), host: { ...host, call: () => (asked.resolve(), new Promise(() => {})) }, signal: stop.signal })
    await asked.promise
    stop.abort(new Error('user'))
    await expect(run).rejects.toThrow('user')
    const [outcome] = await one.calls({ brief: brief(), calls: [local('echo', { text: 'next agent' })], signal: never() })
    expect(outcome?.text).toBe('next agent')
  })
})

describe('SHL-08: the thread that ships', () => {
  const one = createThreads({ entry: REAL, max: 1 })
  const folders = [mkdtempSync(join(tmpdir(), 'cadre-threads-')), mkdtempSync(join(tmpdir(), 'cadre-threads-'))] as const
  afterAll(async () => {
    await one.close()
    for (const folder of folders) rmSync(folder, { recursive: true })
  })

  const inspect = async () => (await one.calls({ brief: brief('fingerprint'), calls: [local('f', {}, 'f')], signal: never() }))[0]?.text
  const search = [
    local('read', { path: 'a.txt' }, '1'), local('ls', {}, '2'), local('glob', { pattern: '**/*' }, '3'), local('grep', { pattern: 'word' }, '4'),
    local('read', { path: 'missing.txt' }, '5'), local('grep', { pattern: '(' }, '6'), local('read', { path: '../x' }, '7'),
  ]
  const texts = async (root: string, agent: string) => {
    const { host, handed } = scripted([search])
    await one.run({ brief: brief(agent, { root: realpathSync(root) }), host, signal: never() })
    return handed[1]?.map(({ text }) => text)
  }

  test('looks the same after agents used, misused and left every read tool', async () => {
    for (const [i, folder] of folders.entries()) writeFileSync(join(folder, 'a.txt'), `word of agent ${i}\n`)
    await texts(folders[0], 'warm-up') // what Node itself loads on first use is there from here on
    const before = await inspect()
    await texts(folders[0], 'a0')
    const stop = new AbortController()
    const reason = new Error('user')
    const { host } = scripted([search])
    const stopped = one.run({ brief: brief('a1', { root: folders[0] }), host: { ...host, next: (outcomes) => (stop.abort(reason), host.next(outcomes)) }, signal: stop.signal })
    await expect(stopped).rejects.toBe(reason)
    expect(await inspect()).toBe(before)
    expect(one.stats()).toEqual({ threads: 1, busy: 0 })
  })

  test('shows an agent the files as they are, not as the agent before it saw them', async () => {
    const [first, second] = [await texts(folders[0], 'a0'), await texts(folders[1], 'a1')]
    expect(first?.[0]).toContain('word of agent 0')
    expect(second?.join('\n')).not.toContain('agent 0')
    for (const text of second?.filter((_, i) => i === 0 || i === 3) ?? []) expect(text).toContain('word of agent 1')
    writeFileSync(join(folders[1], 'a.txt'), 'another word\n')
    writeFileSync(join(folders[1], '.gitignore'), 'b.txt\n')
    writeFileSync(join(folders[1], 'b.txt'), 'ignored word\n')
    const third = (await texts(folders[1], 'a2'))?.slice(0, 4).join('\n')
    expect(third).toContain('another word')
    expect(third).not.toContain('of agent 1')
  })

  test('starts without the environment, arguments or files of the host', async () => {
    expect(JSON.parse(await inspect() ?? '')).toMatchObject({ env: {}, argv: [], resources: [] })
  })

  test('is ended with its agent when a search of that agent does not end', async () => {
    writeFileSync(join(folders[0], 'a.txt'), `${'a'.repeat(60)}!\n`)
    const stop = new AbortController()
    const { host } = scripted([[local('grep', { pattern: '^(a+)+$' })]])
    const run = one.run({
      brief: brief('a1', { root: realpathSync(folders[0]) }),
      host: { ...host, next: (outcomes) => (setTimeout(() => stop.abort(new Error('user')), 500), host.next(outcomes)) },
      signal: stop.signal,
    })
    await expect(run).rejects.toThrow('user')
    expect(one.stats().threads).toBe(0)
    expect((await texts(folders[1], 'a2'))?.[0]).toContain('another word')
  })
})
