import { spawn } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { living, PATIENCE_MS } from '../bench/living.ts'
import { runCommand, VERIFY_COMMAND } from '../../src/verify/command.ts'

function folder(): string {
  const path = mkdtempSync(join(tmpdir(), 'cadre-verify-'))
  onTestFinished(() => rmSync(path, { recursive: true, force: true }))
  return path
}

const run = (command: string, more: Partial<Parameters<typeof runCommand>[1]> = {}) =>
  runCommand(command, { root: tmpdir(), env: process.env, signal: new AbortController().signal, ...more })

async function written(file: string): Promise<number> {
  while (!existsSync(file) || !readFileSync(file, 'utf8').endsWith('\n')) await delay(5)
  return Number(readFileSync(file, 'utf8'))
}

/** Until it is gone; killed at the end of the test in any case. */
async function gone(pid: number): Promise<void> {
  const alive = living([pid])
  await vi.waitFor(() => expect(alive()).toEqual([]), { timeout: PATIENCE_MS, interval: 5 })
}

describe('VER-01: the verify command', () => {
  for (const { command, end } of [
    { command: 'echo fine', end: { ok: true, ending: 'exit 0', output: 'fine\n' } },
    { command: 'echo out; echo err >&2; echo out again; exit 3', end: { ok: false, ending: 'exit 3', output: 'out\nerr\nout again\n' } },
    { command: 'no-such-command-here 2>/dev/null', end: { ok: false, ending: 'exit 127', output: '' } },
    { command: 'kill -KILL $$', end: { ok: false, ending: 'exit 137', output: '' } },
    { command: 'read -r line && echo "read $line" || echo "nothing to read"', end: { ok: true, ending: 'exit 0', output: 'nothing to read\n' } },
    { command: `printf '%s' "it's \\"quoted\\" $((1 + 1))"`, end: { ok: true, ending: 'exit 0', output: `it's "quoted" 2` } },
    { command: 'trap : TERM; kill -TERM 0; echo "still here"', end: { ok: true, ending: 'exit 0', output: 'still here\n' } },
    { command: '[ -e /proc/self/fd/3 ] && echo "a third file is open" || echo closed', end: { ok: true, ending: 'exit 0', output: 'closed\n' } },
  ]) {
    test(`\`${command}\` comes to ${end.ending}`, async () => {
      const { output, ...rest } = await run(command)
      expect({ ...rest, output: output.replaceAll(/^.*Killed\n/gm, '') }).toEqual(end)
    })
  }

  test('runs in the root', async () => {
    const root = folder()
    expect((await run('pwd -P', { root })).output).toBe(`${root}\n`)
  })

  test('a root that is gone, and a command no process can be given, are values', async () => {
    expect(await run('true', { root: join(folder(), 'gone') })).toMatchObject({ ok: false, ending: expect.stringMatching(/^could not be started: .*ENOENT/) })
    expect(await run('echo \0')).toMatchObject({ ok: false, ending: expect.stringMatching(/^could not be started: /) })
    expect(await run(`: ${'x'.repeat(3_000_000)}`)).toMatchObject({ ok: false, ending: expect.stringMatching(/^could not be started: .*E2BIG/) })
  })

  test('gets PATH, HOME, LANG, TERM, TMPDIR and CI=1, and no secret', async () => {
    const env = {
      PATH: process.env['PATH'], HOME: '/home/me', LANG: 'C', TERM: 'dumb', TMPDIR: '/tmp', OPENAI_API_KEY: 'sk-1', GITHUB_TOKEN: 't', MY_SECRET: 's', DB_PASSWORD: 'p', NODE_OPTIONS: '--no',
    }
    const { output } = await run('env', { env })
    const names = output.trim().split('\n').map((line) => line.split('=')[0]).filter((name) => !['PWD', 'OLDPWD', 'SHLVL', '_'].includes(name ?? ''))
    expect(new Set(names)).toEqual(new Set(['CI', 'HOME', 'LANG', 'PATH', 'TERM', 'TMPDIR']))
    expect(output).toContain('CI=1\n')
  })

  test('the last 4,000 characters of its output are kept, whole characters only', async () => {
    const { output } = await run(`i=0; while [ $i -lt 3000 ]; do printf '😀é'; i=$((i+1)); done; printf end`)
    expect(output.length).toBeLessThanOrEqual(VERIFY_COMMAND.outputCharacters)
    expect(output.length).toBeGreaterThanOrEqual(VERIFY_COMMAND.outputCharacters - 1)
    expect(output.isWellFormed()).toBe(true)
    expect(output).toMatch(/^(?:😀é|é)(?:😀é)+end$/u)
  })
})

describe('VER-01, SHL-06: no process outlives the command', () => {
  test('what it leaves in the background is ended with it', async () => {
    const file = join(folder(), 'pid')
    expect(await run(`sleep 600 & echo $! > ${file}`)).toMatchObject({ ok: true })
    await gone(await written(file))
  })

  test('a process that left its group and holds its output does not hold the run', async () => {
    const file = join(folder(), 'pid')
    expect(await run(`setsid sh -c 'echo $$ > ${file}; exec sleep 600' & while [ ! -s ${file} ]; do sleep 0.01; done; echo off`)).toMatchObject({ ok: true, output: 'off\n' })
    process.kill(await written(file), 'SIGKILL')
  })

  test('one that goes on after its time is told to end, and says so', async () => {
    expect(await run('trap "echo stopping; exit 0" TERM; echo began; while :; do sleep 0.05; done', { timeoutMs: 300 })).toMatchObject({ ok: false, ending: 'timed out after 0.3 s', output: expect.stringMatching(/^began\n(?:.*\n)?stopping\n$/) })
  })

  test('one that ignores SIGTERM, children included, is killed', async () => {
    const file = join(folder(), 'pid')
    const command = `trap '' TERM; sh -c 'echo $$ > ${file}; while :; do sleep 0.05; done'`
    expect(await run(command, { timeoutMs: 300 })).toMatchObject({ ok: false, ending: 'timed out after 0.3 s' })
    await gone(await written(file))
  })

  test('a stop of the run ends it: when the promise rejects with the reason, it is dead', async () => {
    const file = join(folder(), 'pid')
    const stop = new AbortController()
    const running = run(`trap '' TERM; echo $$ > ${file}; while :; do sleep 0.05; done`, { signal: stop.signal })
    const pid = await written(file)
    stop.abort(new Error('stopped'))
    await expect(running).rejects.toThrow('stopped')
    expect(living([pid])()).toEqual([])
  })

  test('a run that was stopped before starts nothing', async () => {
    const file = join(folder(), 'ran')
    await expect(run(`touch ${file}`, { signal: AbortSignal.abort(new Error('stopped')) })).rejects.toThrow('stopped')
    expect(existsSync(file)).toBe(false)
  })

  test('when the process that asked for it is killed, it dies, too', async () => {
    const file = join(folder(), 'pid')
    const module = new URL('../../src/verify/command.ts', import.meta.url).href
    const code = `import { runCommand } from ${JSON.stringify(module)}
      await runCommand(${JSON.stringify(`trap '' TERM HUP INT; sh -c 'echo $$ > ${file}; while :; do sleep 0.05; done'`)}, { root: '/', env: process.env, signal: new AbortController().signal })`
    const host = spawn(process.execPath, ['--input-type=module', '-e', code], { stdio: 'ignore' })
    const pid = await written(file)
    expect(living([pid])()).toEqual([pid])
    host.kill('SIGKILL')
    await gone(pid)
  })
})
