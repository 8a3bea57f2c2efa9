import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, test } from 'vitest'
import { CadreError } from '../../src/core/errors.ts'
import { exitCodeOf } from '../../src/sweep/sweep.ts'
import { failed, fakeDoors, manyFiles, options, resultOf, sweep } from './fake-doors.ts'

const folders: string[] = []
const tempFolder = () => {
  const folder = mkdtempSync(join(tmpdir(), 'cadre-sweep-test-'))
  folders.push(folder)
  return folder
}
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true })
})
const linesIn = (folder: string) =>
  readFileSync(join(folder, 'results.jsonl'), 'utf8').split('\n').filter(Boolean).map((line) => JSON.parse(line) as Record<string, unknown>)

describe('CMD-05 a sweep runs an agent per item', () => {
  test('each file once, with at most --parallel agents at work', async () => {
    let [now, most] = [0, 0]
    const { doors, started, progress } = fakeDoors({
      files: manyFiles(40),
      async agent() {
        most = Math.max(most, (now += 1))
        await new Promise((resolve) => setImmediate(resolve))
        now -= 1
        return resultOf({ costUsd: 0.25 })
      },
    })
    const summary = await sweep(options({ parallel: 8 }), doors)
    expect(started).toHaveLength(40)
    expect(new Set(started.map(({ key }) => key)).size).toBe(40)
    expect(most).toBe(8)
    expect(summary).toMatchObject({ status: 'completed', total: 40, completed: 40, failed: 0, left: 0, runs: 40, costUsd: 10 })
    expect(progress.at(-1)).toEqual({ total: 40, done: 40, failed: 0, cached: 0, running: 0, costUsd: 10 })
    expect(exitCodeOf(summary)).toBe(0)
  })

  test('--batch 3 gives three items to one agent, the rest to the last, and titles say so', async () => {
    const { doors, started } = fakeDoors({ files: manyFiles(7) })
    const out = tempFolder()
    expect(await sweep(options({ batch: 3, out }), doors)).toMatchObject({ total: 7, completed: 7, runs: 3 })
    expect(started.map(({ title }) => title)).toEqual(['src/f0000.ts and 2 more', 'src/f0003.ts and 2 more', 'src/f0006.ts'])
    expect(linesIn(out).flatMap(({ items }) => items)).toEqual(Object.keys(manyFiles(7)))
  })

  test('a title is at most 60 characters and keeps the end of a path', async () => {
    const { doors, started } = fakeDoors({ files: { [`${'deep/'.repeat(30)}name.ts`]: '' } })
    await sweep(options(), doors)
    expect(started[0]?.title).toHaveLength(60)
    expect(started[0]?.title).toMatch(/^….*name\.ts$/)
  })

  test('--schema is handed to every agent and counts for what is skipped (AGT-10)', async () => {
    const { doors, started } = fakeDoors({ files: manyFiles(2) })
    await sweep(options({ schema: { type: 'object' } }), doors)
    expect(started.map(({ schema }) => schema)).toEqual([{ type: 'object' }, { type: 'object' }])
    await sweep(options({ schema: { type: 'array' } }), doors)
    expect(started).toHaveLength(4)
  })

  for (const bad of [{ batch: 0 }, { parallel: 1.5 }, { parallel: Number.NaN }]) {
    test(`${JSON.stringify(bad)} is a usage error`, async () => {
      await expect(sweep(options(bad), fakeDoors({ files: manyFiles(1) }).doors)).rejects.toMatchObject({ code: 'USAGE' })
    })
  }

  test('a prompt that cannot be filled for one row is known before anything is run or written', async () => {
    const { doors, started } = fakeDoors({ files: { 'rows.jsonl': '{"a":1,"b":2}\n{"a":1}\n' } })
    const out = join(tempFolder(), 'out')
    await expect(sweep(options({ over: 'rows.jsonl', prompt: '{b}', out }), doors)).rejects.toThrow('{b}')
    expect(started).toHaveLength(0)
    expect(existsSync(out)).toBe(false)
  })
})

describe('CMD-05 finished items are skipped on a second run', () => {
  test('all of them when nothing changed, and results.jsonl still holds each once', async () => {
    const out = tempFolder()
    const { doors, started } = fakeDoors({ files: manyFiles(20), agent: (_work, [item = '']) => resultOf({ value: { item }, costUsd: 1 }) })
    await sweep(options({ out }), doors)
    const summary = await sweep(options({ out }), doors)
    expect(started).toHaveLength(20)
    expect(summary).toMatchObject({ status: 'completed', completed: 20, cached: 20, runs: 0, costUsd: 0 })
    expect(linesIn(out).map(({ item, value, cached }) => ({ item, value, cached }))).toEqual(
      Object.keys(manyFiles(20)).map((item) => ({ item, value: { item }, cached: true })),
    )
  })

  test('a changed file, a new file and a file that is gone are seen; so are a new type version and a new prompt', async () => {
    const files: Record<string, string> = manyFiles(4)
    const { doors, started } = fakeDoors({ files })
    const again = async (given = {}) => {
      const before = started.length
      await sweep(options(given), { ...doors, ...given })
      return started.slice(before).map(({ title }) => title)
    }
    await again()
    files['src/f0001.ts'] = 'changed'
    files['src/new.ts'] = 'new'
    expect(await again()).toEqual(['src/f0001.ts', 'src/new.ts'])
    expect(await again({ typeHash: 'type-2' })).toHaveLength(5)
    expect(await again({ prompt: 'Look at {item}' })).toHaveLength(5)
    expect(await again()).toEqual([])
  })

  test('a file an agent read besides its item counts too', async () => {
    let config = 'one'
    const { doors, journal, started } = fakeDoors({ lines: ['x'], hashFile: () => config })
    await sweep(options({ over: '-' }), doors)
    for (const [key, run] of journal) journal.set(key, { ...run, reads: [{ path: 'config.json', hash: 'one' }] })
    await sweep(options({ over: '-' }), doors)
    expect(started).toHaveLength(1)
    config = 'two'
    await sweep(options({ over: '-' }), doors)
    expect(started).toHaveLength(2)
  })

  test('a run whose reads nobody knows is run again', async () => {
    const { doors, journal, started } = fakeDoors({ lines: ['x'] })
    await sweep(options({ over: '-' }), doors)
    for (const [key, run] of journal) journal.set(key, { ...run, reads: null })
    await sweep(options({ over: '-' }), doors)
    expect(started).toHaveLength(2)
  })

  test('a failed item is run again, and its old failure is gone', async () => {
    const out = tempFolder()
    let isBroken = true
    const agent = (_work: unknown, [item = '']: readonly string[]) => (isBroken && item.includes('3') ? failed('no') : resultOf())
    const { doors, started } = fakeDoors({ files: manyFiles(6), agent })
    const first = await sweep(options({ out }), doors)
    expect(first).toMatchObject({ status: 'failed', failed: 1 })
    expect(exitCodeOf(first)).toBe(3)
    isBroken = false
    const second = await sweep(options({ out }), doors)
    expect(second).toMatchObject({ status: 'completed', completed: 6, cached: 5, failed: 0 })
    expect(started).toHaveLength(7)
    expect(linesIn(out).map(({ status }) => status)).toEqual(Array(6).fill('completed'))
  })

  test('what the sweep wrote into a folder inside the root is no item of its next run', async () => {
    const root = tempFolder()
    const out = join(root, 'out')
    mkdirSync(out)
    writeFileSync(join(out, 'notes.md'), 'of the user')
    const listFiles = () => Promise.resolve(['a.ts', ...readdirSync(out).map((name) => `out/${name}`)])
    const { doors, started } = fakeDoors({ root, listFiles, agent: () => resultOf({ value: [{ file: 'a', message: 'b' }] }) })
    for (let run = 0; run < 2; run += 1) await sweep(options({ out }), doors)
    expect(started.map(({ title }) => title)).toEqual(['a.ts', 'out/notes.md'])
  })
})

describe('CMD-05 one failure stops no other', () => {
  test('every other item completes, and the summary groups failures by cause', async () => {
    const agent = (_work: unknown, [item = '']: readonly string[]) => {
      if (item.includes('7')) return failed(`the program broke on ${item}`)
      return item.includes('5') ? resultOf({ status: 'partial', cause: 'max_turns', error: 'It used its 50 turns.' }) : resultOf()
    }
    const summary = await sweep(options(), fakeDoors({ files: manyFiles(50), agent }).doors)
    expect(summary).toMatchObject({ status: 'failed', completed: 40, failed: 10 })
    const numbered = (digit: number) => [0, 1, 2].map((tens) => `src/f00${tens}${digit}.ts`)
    expect(summary.failures.groups).toEqual([
      { ending: 'failed (program)', reason: 'the program broke on src/f0007.ts', items: 5, examples: numbered(7) },
      { ending: 'partial (max_turns)', reason: 'It used its 50 turns.', items: 5, examples: numbered(5) },
    ])
  })

  test('an error that every agent meets from the start stops the sweep after 20, with that error once', async () => {
    const { doors, started } = fakeDoors({ files: manyFiles(1_000), agent: () => failed('No key. Set ANTHROPIC_API_KEY.', 'setup') })
    const out = tempFolder()
    const summary = await sweep(options({ out }), doors)
    expect(started.length).toBeLessThan(24)
    expect(summary).toMatchObject({ status: 'stopped', completed: 0 })
    expect(summary.failed).toBeGreaterThanOrEqual(20)
    expect(summary.failed + summary.left).toBe(1_000)
    expect(linesIn(out)).toHaveLength(summary.failed)
    expect(summary.reason).toBe('20 agents in a row ended as failed (setup) with the same error: No key. Set ANTHROPIC_API_KEY.')
    expect(exitCodeOf(summary)).toBe(3)
  })

  test('after a good run it takes 100 in a row', async () => {
    let runs = 0
    const agent = () => ((runs += 1) === 1 ? resultOf() : failed('The credit is used up.', 'model'))
    const { doors } = fakeDoors({ files: manyFiles(1_000), agent })
    expect(await sweep(options({ parallel: 1 }), doors)).toMatchObject({ status: 'stopped', completed: 1, failed: 100, left: 899 })
  })

  const neverStop: readonly (readonly [string, (n: number, item: string) => ReturnType<typeof failed>])[] = [
    ['a program that fails on every item', () => failed('TypeError: x is undefined')],
    ['errors that differ', (n) => failed(`prompt is too long: ${n} tokens`, 'model')],
    ['an error now and then', (n) => (n % 15 === 0 ? resultOf() : failed('overloaded', 'model'))],
    ['a missing value of the schema', () => failed('not valid', 'output_schema')],
  ]
  for (const [what, agentOf] of neverStop) {
    test(`${what} never stops a sweep`, async () => {
      let n = 0
      const { doors, started } = fakeDoors({ files: manyFiles(150), agent: (_work, [item = '']) => agentOf((n += 1), item) })
      expect(await sweep(options({ parallel: 1 }), doors)).toMatchObject({ status: 'failed', left: 0 })
      expect(started).toHaveLength(150)
    })
  }

  test('a start that rejects ends the sweep with that error, after the running agents were stopped', async () => {
    let running = 0
    const { doors, started } = fakeDoors({
      files: manyFiles(100),
      async agent(work, [item = '']) {
        if (item.includes('0005')) throw new CadreError('JOURNAL', 'The disk is full.')
        running += 1
        await new Promise((resolve) => work.signal.addEventListener('abort', resolve))
        running -= 1
        return resultOf({ status: 'killed', cause: 'user' })
      },
    })
    await expect(sweep(options({ parallel: 8 }), doors)).rejects.toMatchObject({ code: 'JOURNAL' })
    expect(running).toBe(0)
    expect(started).toHaveLength(8)
  })
})

describe('CMD-12 interruption keeps everything that has finished', () => {
  test('no agent is begun after it, running ones are stopped, and the next run goes on where this one was', async () => {
    const out = tempFolder()
    const stopped = new AbortController()
    const { doors, started } = fakeDoors({
      files: manyFiles(50),
      async agent(work) {
        if (started.length === 20) stopped.abort()
        await new Promise((resolve) => setImmediate(resolve))
        return work.signal.aborted ? resultOf({ status: 'killed', cause: 'user' }) : resultOf()
      },
    })
    const summary = await sweep(options({ signal: stopped.signal, out }), doors)
    expect(started).toHaveLength(20)
    expect(summary.status).toBe('interrupted')
    expect(exitCodeOf(summary)).toBe(130)
    expect(summary.failed).toBe(0)
    expect(summary.completed + summary.left).toBe(50)
    expect(linesIn(out)).toHaveLength(summary.completed)
    expect(readFileSync(join(out, 'report.md'), 'utf8')).toContain('**Interrupted:**')

    const next = await sweep(options({ out }), doors)
    expect(next).toMatchObject({ status: 'completed', completed: 50, cached: summary.completed })
    expect(started).toHaveLength(20 + summary.left)
    expect(new Set(linesIn(out).map(({ item }) => item)).size).toBe(50)
  })

  test('interrupted before it began: nothing is run and earlier results stay as they are', async () => {
    const out = tempFolder()
    const { doors, started } = fakeDoors({ files: manyFiles(5) })
    await sweep(options({ out }), doors)
    const before = readFileSync(join(out, 'results.jsonl'), 'utf8')
    const summary = await sweep(options({ out, signal: AbortSignal.abort() }), doors)
    expect(summary).toMatchObject({ status: 'interrupted', left: 5 })
    expect(started).toHaveLength(5)
    expect(readFileSync(join(out, 'results.jsonl'), 'utf8')).toBe(before)
    expect(readdirSync(out).toSorted()).toEqual(['.gitignore', 'report.md', 'results.jsonl'])
  })

  test('a run that completes although it was told to stop is kept', async () => {
    const stopped = new AbortController()
    const agent = () => {
      stopped.abort()
      return resultOf()
    }
    const summary = await sweep(options({ signal: stopped.signal }), fakeDoors({ files: manyFiles(1), agent }).doors)
    expect(summary).toMatchObject({ status: 'completed', completed: 1 })
  })
})

describe('CMD-12 --out', () => {
  test('a line says what came of an item: value or output, ending, error, agent, cost and time', async () => {
    const out = tempFolder()
    const agent = (_work: unknown, [item = '']: readonly string[]) => {
      if (item.includes('0')) return resultOf({ value: { n: 1 }, costUsd: 0.5 })
      return item.includes('1') ? resultOf({ output: 'text' }) : failed('broke')
    }
    await sweep(options({ out, over: '-' }), fakeDoors({ lines: ['f0', 'f1', 'f2'], agent }).doors)
    const common = { cause: null, error: null, costUsd: 0, durationMs: 5 }
    expect(linesIn(out)).toEqual([
      { ...common, item: 'f0', status: 'completed', value: { n: 1 }, agent: 'sa-00000001', costUsd: 0.5 },
      { ...common, item: 'f1', status: 'completed', output: 'text', agent: 'sa-00000002' },
      { ...common, item: 'f2', status: 'failed', cause: 'program', output: '', error: 'broke', agent: 'sa-00000003' },
    ])
  })

  test('results appear while the sweep runs, in the order they finish', async () => {
    const out = tempFolder()
    const seen: number[] = []
    const agent = () => {
      seen.push(linesIn(out).length)
      return resultOf()
    }
    await sweep(options({ out, parallel: 1 }), fakeDoors({ files: manyFiles(4), agent }).doors)
    expect(seen).toEqual([0, 1, 2, 3])
  })

  test('a file in its place is a usage error, and nothing is run', async () => {
    const out = join(tempFolder(), 'file')
    writeFileSync(out, 'mine')
    const { doors, started } = fakeDoors({ files: manyFiles(1) })
    await expect(sweep(options({ out }), doors)).rejects.toMatchObject({ code: 'USAGE' })
    expect(started).toHaveLength(0)
    expect(readFileSync(out, 'utf8')).toBe('mine')
  })

  test('a disk that takes no more ends the sweep with an error that names the file and what to do', async () => {
    const out = join(tempFolder(), 'out')
    const { doors, started } = fakeDoors({ files: manyFiles(100), agent: () => resultOf({ output: 'x'.repeat(100_000) }) })
    const script = `
      import { fakeDoors, manyFiles, options, resultOf, sweep } from ${JSON.stringify(new URL('fake-doors.ts', import.meta.url).href)}
      const { doors } = fakeDoors({ files: manyFiles(100), agent: () => resultOf({ output: 'x'.repeat(100_000) }) })
      await sweep(options({ out: ${JSON.stringify(out)} }), doors).catch(({ code, message }) => console.log(code, message))`
    const { stdout } = spawnSync('bash', ['-c', 'ulimit -f 2000; exec "$0" --input-type=module -e "$1"', process.execPath, script], { encoding: 'utf8' })
    expect(stdout).toMatch(/^USAGE .*results\.jsonl cannot be written: .*EFBIG.* run the same command again/)
    expect(readFileSync(join(out, 'results.jsonl'), 'utf8').split('\n').length).toBeGreaterThan(10)

    const summary = await sweep(options({ out }), doors)
    expect(summary).toMatchObject({ status: 'completed', completed: 100 })
    expect(started).toHaveLength(100)
    expect(linesIn(out)).toHaveLength(100)
  })

  test('report.sarif is written when values carry findings, and an old one is removed when none do any more', async () => {
    const out = tempFolder()
    const files: Record<string, string> = { 'a.ts': 'TODO' }
    const agent = () => resultOf({ value: { findings: files['a.ts'] === 'TODO' ? [{ file: 'a.ts', line: 1, message: 'TODO' }] : [] } })
    const { doors } = fakeDoors({ files, agent })
    expect((await sweep(options({ out }), doors)).files.sarif).toBe(join(out, 'report.sarif'))
    files['a.ts'] = 'done'
    expect((await sweep(options({ out }), doors)).files.sarif).toBeNull()
    expect(readdirSync(out).toSorted()).toEqual(['.gitignore', 'report.md', 'results.jsonl'])
  })
})

describe('CMD-12 --reduce', () => {
  const withReduce = (reduce: (prompt: string) => ReturnType<typeof resultOf>, given: Parameters<typeof fakeDoors>[0] = {}) => {
    const prompts: string[] = []
    const fakes = fakeDoors({
      files: manyFiles(3),
      agent: (_work, [item = '']) => resultOf({ value: { about: item } }),
      reduce: (prompt) => {
        prompts.push(prompt)
        return Promise.resolve(reduce(prompt))
      },
      ...given,
    })
    return { ...fakes, prompts }
  }

  test('one last agent gets every result, in the order of the items, and its answer is in summary and report', async () => {
    const out = tempFolder()
    const { doors, prompts } = withReduce(() => resultOf({ output: 'All is well.', costUsd: 2 }))
    const summary = await sweep(options({ out, reduce: 'What matters?' }), doors)
    expect(prompts).toEqual([
      'What matters?\n\nResults of 3 items (3 completed, 0 failed), one JSON object per line:\n\n' +
        Object.keys(manyFiles(3)).map((item) => JSON.stringify({ item, value: { about: item } })).join('\n'),
    ])
    expect(summary).toMatchObject({ status: 'completed', costUsd: 2, reduced: { output: 'All is well.' } })
    expect(readFileSync(join(out, 'report.md'), 'utf8')).toContain('## Result\n\nAll is well.')
  })

  test('it needs no --out, and leaves nothing behind in the temporary folder', async () => {
    const before = readdirSync(tmpdir()).filter((name) => name.startsWith('cadre-sweep-') && !name.startsWith('cadre-sweep-test'))
    const { doors, prompts } = withReduce(() => resultOf())
    await sweep(options({ reduce: 'What matters?' }), doors)
    expect(prompts).toHaveLength(1)
    expect(readdirSync(tmpdir()).filter((name) => name.startsWith('cadre-sweep-') && !name.startsWith('cadre-sweep-test'))).toEqual(before)
  })

  test('its failure is a failure of the sweep, with everything else kept', async () => {
    const { doors } = withReduce(() => failed('too long', 'model'))
    const summary = await sweep(options({ reduce: 'What matters?' }), doors)
    expect(summary).toMatchObject({ status: 'failed', completed: 3, reason: 'The agent of --reduce failed: too long' })
    expect(exitCodeOf(summary)).toBe(3)
  })

  test('more results than fit one prompt are cut, and the prompt says how many', async () => {
    const { doors, prompts } = withReduce(() => resultOf(), { files: manyFiles(800), agent: () => resultOf({ output: 'x'.repeat(5_000) }) })
    await sweep(options({ reduce: 'What matters?' }), doors)
    expect(prompts[0]?.length).toBeLessThan(300_000)
    expect(prompts[0]).toMatch(/characters left out\]\n\[\d+ more results left out: too long for one prompt\]$/)
  })

  test('interrupted while it works, every result is kept and the sweep says that this answer is missing', async () => {
    const stopped = new AbortController()
    const { doors } = withReduce(() => {
      stopped.abort(new CadreError('STOPPED', 'Ctrl-C'))
      throw stopped.signal.reason
    })
    const summary = await sweep(options({ reduce: 'What matters?', signal: stopped.signal }), {
      ...doors,
      reduce: async (prompt, signal) => (await doors.reduce?.(prompt, signal)) ?? resultOf(),
    })
    expect(summary).toMatchObject({ status: 'interrupted', completed: 3, left: 0 })
    expect(summary.reason).toContain('--reduce was stopped')
    expect(exitCodeOf(summary)).toBe(130)
  })

  test('it is not started when nothing completed, and the summary says so', async () => {
    const { doors, prompts } = withReduce(() => resultOf(), { agent: () => failed('broke') })
    expect((await sweep(options({ reduce: 'What matters?' }), doors)).reason).toContain('was not started')
    expect(prompts).toEqual([])
  })
})
