import { afterAll, describe, expect, test } from 'vitest'

import { createThreads } from '../../src/threads/runner.ts'
import { brief, local, MISBEHAVING, never, scripted } from './fixtures/scripted.ts'

describe('SHL-08: a pooled thread keeps nothing between agents', () => {
  const one = createThreads({ entry: MISBEHAVING, max: 1 })
  afterAll(() => one.close())

  test('it starts without the environment of the host', async () => {
    process.env['CADRE_TEST_SECRET'] = 'secret'
    const [outcome] = await one.calls({ brief: brief(), calls: [local('env')], signal: never() })
    delete process.env['CADRE_TEST_SECRET']
    expect(outcome?.text).toBe('{}')
  })

  for (const tool of ['leaveGlobal', 'leaveEnv', 'leaveCwd', 'leavePrototype']) {
    test(`a tool cannot ${tool.replace('leave', 'leave a changed ').toLowerCase()}`, async () => {
      const { host, handed } = scripted([[local(tool)], [local('env')]])
      await one.run({ brief: brief(), host, signal: never() })
      expect(handed[1]?.[0]).toMatchObject({ ok: false, text: expect.stringMatching(/^Error: /) })
      expect(handed[2]?.[0]?.text).toBe('{}')
    })
  }

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
