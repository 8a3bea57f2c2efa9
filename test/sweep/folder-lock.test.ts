import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readFileSync, rmSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, onTestFinished, test } from 'vitest'
import { LOCK_NAME, lockFolder } from '../../src/sweep/folder-lock.ts'
import { fakeDoors, manyFiles, options, resultOf, sweep } from './fake-doors.ts'

const SLOW = fileURLToPath(new URL('fixtures/slow-sweep.ts', import.meta.url))

function tempFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'cadre-sweep-test-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

/** A sweep in another process, once one of its agents is at work. */
async function slowSweep(out: string) {
  const child = spawn(process.execPath, [SLOW, out], { stdio: ['pipe', 'pipe', 'inherit'] })
  onTestFinished(() => void child.kill('SIGKILL'))
  const exit = once(child, 'exit')
  await once(child.stdout, 'data')
  return { child, exit }
}

/** An id of a process that has ended. */
async function deadPid(): Promise<number> {
  const child = spawn(process.execPath, ['-e', ''])
  await once(child, 'exit')
  return child.pid ?? 0
}

const refused = (out: string, pid: number | undefined) => ({ code: 'USAGE', message: expect.stringContaining(`--out ${out} is in use by a sweep of process ${pid}.`) })

describe('CMD-12 one sweep owns an output folder', () => {
  test('a second one, under whatever name of the folder, is one usage error that names folder and process; the first one\'s results stay whole', async () => {
    const folder = tempFolder()
    const [out, link] = [join(folder, 'out'), join(folder, 'link')]
    const { child, exit } = await slowSweep(out)
    symlinkSync(out, link)
    for (const name of [out, link]) {
      const { doors, started } = fakeDoors({ files: manyFiles(3) })
      await expect(sweep(options({ out: name }), doors)).rejects.toMatchObject(refused(name, child.pid))
      expect(started).toHaveLength(0)
    }
    child.stdin.end()
    await exit
    const lines: readonly { readonly item: string }[] = readFileSync(join(out, 'results.jsonl'), 'utf8').trimEnd().split('\n').map((line) => JSON.parse(line))
    expect(lines.map(({ item }) => item).toSorted()).toEqual(Object.keys(manyFiles(2)))
    expect(existsSync(join(out, LOCK_NAME))).toBe(false)
    expect(await sweep(options({ out }), fakeDoors({ files: manyFiles(3) }).doors)).toMatchObject({ completed: 3 })
  })

  test('two that begin in one process at once: one runs to its end, the other is refused', async () => {
    const out = join(tempFolder(), 'out')
    const both = await Promise.allSettled([0, 1].map(() => sweep(options({ out }), fakeDoors({ files: manyFiles(40) }).doors)))
    expect(both.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
    expect(both.find(({ status }) => status === 'rejected')).toMatchObject({ reason: refused(out, process.pid) })
    expect(readFileSync(join(out, 'results.jsonl'), 'utf8').trimEnd().split('\n')).toHaveLength(40)
  })

  test('one that was interrupted gives it back', async () => {
    const out = join(tempFolder(), 'out')
    const { child, exit } = await slowSweep(out)
    expect(existsSync(join(out, LOCK_NAME))).toBe(true)
    child.kill('SIGINT')
    await exit
    expect(existsSync(join(out, LOCK_NAME))).toBe(false)
  })

  test('one that fails gives it back', async () => {
    const out = join(tempFolder(), 'out')
    const { doors } = fakeDoors({ files: manyFiles(1), start: () => Promise.reject(new Error('gone')) })
    await expect(sweep(options({ out }), doors)).rejects.toThrow('gone')
    expect(existsSync(join(out, LOCK_NAME))).toBe(false)
  })

  test('one that was killed does not: the next takes over', async () => {
    const out = join(tempFolder(), 'out')
    const { child, exit } = await slowSweep(out)
    child.kill('SIGKILL')
    await exit
    expect(existsSync(join(out, LOCK_NAME))).toBe(true)
    expect(await sweep(options({ out }), fakeDoors({ files: manyFiles(3) }).doors)).toMatchObject({ completed: 3 })
    expect(existsSync(join(out, LOCK_NAME))).toBe(false)
  })

  test('a lock of an earlier process that had the id of this one is taken over', async () => {
    const out = tempFolder()
    writeFileSync(join(out, LOCK_NAME), `${process.pid} 0f0f0f0f\n`)
    expect(await sweep(options({ out }), fakeDoors({ files: manyFiles(1), agent: () => resultOf() }).doors)).toMatchObject({ completed: 1 })
  })

  for (const text of ['', '12', 'not a lock\n']) {
    test(`what a kill left of a lock, ${JSON.stringify(text)}, is taken over, and of a takeover too`, async () => {
      const out = tempFolder()
      for (const name of [LOCK_NAME, `${LOCK_NAME}.takeover`]) {
        writeFileSync(join(out, name), text)
        utimesSync(join(out, name), 0, 0)
      }
      const release = await lockFolder(out, 'out')
      release()
      expect(existsSync(join(out, LOCK_NAME))).toBe(false)
    })
  }

  test('of many that find a dead lock at once, exactly one takes it over', async () => {
    const pid = await deadPid()
    for (let round = 0; round < 20; round += 1) {
      const out = tempFolder()
      writeFileSync(join(out, LOCK_NAME), `${pid} dead\n`)
      const all = await Promise.allSettled(Array.from({ length: 8 }, () => lockFolder(out, 'out')))
      const won = all.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : []))
      expect(won).toHaveLength(1)
      for (const release of won) release()
    }
  })

  test('giving back leaves a lock alone that somebody else has put there meanwhile', async () => {
    const out = tempFolder()
    const release = await lockFolder(out, 'out')
    writeFileSync(join(out, LOCK_NAME), '1 other\n')
    release()
    expect(readFileSync(join(out, LOCK_NAME), 'utf8')).toBe('1 other\n')
  })

  test('a folder that is gone is one usage error', async () => {
    const out = join(tempFolder(), 'out')
    await expect(lockFolder(out, 'out')).rejects.toMatchObject({ code: 'USAGE', message: expect.stringContaining('cannot be written') })
  })
})
