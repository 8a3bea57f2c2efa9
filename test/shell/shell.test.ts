import { spawn } from 'node:child_process'
import { existsSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { openShell } from '../../src/shell/open-shell.ts'
import type { Shell } from '../../src/shell/open-shell.ts'
import { livingProcesses } from '../../src/shell/processes.ts'
import { shellText } from '../../src/shell/shell-text.ts'
import { policyOf } from '../../sandbox/shell/policy.ts'
import { PATIENCE_MS } from '../bench/living.ts'
import { grantOf, probe, skipped } from './place.ts'

function folder(): string {
  const path = realpathSync(mkdtempSync(join(tmpdir(), 'cadre-sh-')))
  onTestFinished(() => rmSync(path, { recursive: true, force: true }))
  return path
}

const never = new AbortController().signal

/** Processes with a command line that has this in it. */
const running = (mark: string): readonly string[] => readdirSync('/proc').filter((name) => {
  try {
    return /^\d+$/.test(name) && readFileSync(`/proc/${name}/cmdline`, 'utf8').includes(mark) && !/^State:\s+Z/m.test(readFileSync(`/proc/${name}/status`, 'utf8'))
  } catch {
    return false
  }
})

/** A number of seconds nobody else sleeps for, by which a process is found. */
let naps = 0
const nap = (): string => `${90_000 + process.pid % 9_000}.${(naps += 1)}5`

for (const { kind, confines } of [{ kind: 'unconfined', confines: false }, { kind: 'confined', confines: true }] as const) {
  const why = confines ? skipped : null
  describe.skipIf(why !== null)(`an ${kind} shell${why === null ? '' : ` (${why})`}`, () => {
    function options(env: Readonly<Record<string, string | undefined>> = process.env, passed: readonly string[] = []) {
      const root = folder()
      const tmp = folder()
      const place = { home: '/nonexistent', tmp, runtimeDir: null, hidden: [], git: 'none' } as const
      const confined = confines && probe.kind !== null ? { policy: policyOf(grantOf(root, [['bash', 'execute']]), place), by: probe } : null
      return { confined, root, env, passed, tmp }
    }

    function open(...given: Parameters<typeof options>): Shell & { readonly root: string; readonly tmp: string } {
      const with_ = options(...given)
      const shell = openShell(with_)
      onTestFinished(() => shell.close())
      return { ...shell, root: with_.root, tmp: with_.tmp }
    }

    const run = async (shell: Shell, command: string, timeoutMs = 60_000): Promise<string> => shellText(await shell.run(command, { timeoutMs, signal: never }))

    for (const { command, text } of [
      { command: 'echo out; echo err >&2; echo more; exit 3', text: 'out\nerr\nmore\n[exit 3]' },
      { command: 'true', text: '[exit 0]' },
      { command: 'printf open', text: 'open\n[exit 0]' },
      { command: 'no-such-command-here 2> /dev/null', text: '[exit 127]' },
      { command: 'read -r line && echo "read $line" || echo nothing to read', text: 'nothing to read\n[exit 0]' },
      { command: `printf '%s' "it's \\"quoted\\" $((1 + 1))"`, text: `it's "quoted" 2\n[exit 0]` },
      { command: 'for f in 3 4 5; do [ -e /proc/self/fd/$f ] && echo "$f is open"; done; true', text: '[exit 0]' },
      { command: `printf 'a\\377b'`, text: 'a\uFFFDb\n[exit 0]' },
    ]) {
      test(`TOO-08: \`${command}\` comes to ${JSON.stringify(text)}`, async () => expect(await run(open(), command)).toBe(text))
    }

    test('TOO-08: each call starts in the root', async () => {
      const shell = open()
      expect(await run(shell, 'cd /; pwd -P')).toBe('/\n[exit 0]')
      expect(await run(shell, 'pwd -P')).toBe(`${shell.root}\n[exit 0]`)
    })

    test('TOO-08: of 10 MB the first and last 15,000 characters are kept', async () => {
      const text = await run(open(), 'echo first; yes 0123456789abcde | head -c 10000000; echo; echo last')
      expect(text).toMatch(/^first\n[^]*\n\[… 99\d{5} characters left out\]\n[^]*last\n\[exit 0\]$/)
      expect(text.length).toBeLessThan(30_100)
    })

    test('SHL-05: the environment is PATH, HOME, LANG, TERM, TMPDIR, what shell.env names, and CI=1; never a secret', async () => {
      const secrets = { OPENAI_API_KEY: 's1', GITHUB_TOKEN: 's2', MY_SECRET: 's3', DB_PASSWORD: 's4', db_password: 's5' }
      const env = { PATH: process.env['PATH'], HOME: '/nonexistent', LANG: 'C', TERM: 'dumb', TMPDIR: '/wrong', MINE: 'mine', OTHER: 'other', NODE_OPTIONS: '--no', ...secrets }
      const text = await run(open(env, ['MINE', ...Object.keys(secrets)]), 'env')
      const names = text.split('\n').flatMap((line) => /^(\w+)=/.exec(line)?.[1] ?? []).filter((name) => !['PWD', 'OLDPWD', 'SHLVL', '_'].includes(name))
      expect(new Set(names)).toEqual(new Set(['PATH', 'HOME', 'LANG', 'TERM', 'TMPDIR', 'MINE', 'CI']))
      expect(text).not.toMatch(/=s\d|wrong/)
      expect(text).toContain('CI=1\n')
    })

    test('a command no process can be given is a value', async () => {
      const shell = open()
      expect(await run(shell, 'echo \0')).toMatch(/^could not be started: .*\n\[exit 126\]$/)
      expect(await run(shell, `: ${'x'.repeat(3_000_000)}`)).toMatch(/^could not be started: .*E2BIG.*\n\[exit 126\]$/)
      expect(await run(shell, 'echo fine')).toBe('fine\n[exit 0]')
    })

    test('SHL-06: a command over its time is told to end, and says so', async () => {
      expect(await run(open(), 'trap "echo stopping; exit 0" TERM; echo began; while :; do sleep 0.05; done', 1_000)).toMatch(/^began\n(?:.*\n)*stopping\n\[timed out after 1 s\]$/)
    })

    test('SHL-06: one that ignores SIGTERM is killed, its background included', async () => {
      const time = nap()
      expect(await run(open(), `trap '' TERM; sleep ${time} & while :; do sleep 0.05; done`, 500)).toMatch(/\[timed out after 0.5 s\]$/)
      await vi.waitFor(() => expect(running(time)).toEqual([]), { timeout: PATIENCE_MS, interval: 5 })
    })

    test('SHL-06: after a stop it rejects with the reason, and nothing of the call is alive', async () => {
      const time = nap()
      const shell = open()
      const stop = new AbortController()
      const ended = shell.run(`trap '' TERM; sleep ${time}; while :; do sleep 0.05; done`, { timeoutMs: 60_000, signal: stop.signal })
      await vi.waitFor(() => expect(running(`sleep\0${time}`)).toHaveLength(1), { timeout: PATIENCE_MS })
      stop.abort(new Error('stopped'))
      await expect(ended).rejects.toThrow('stopped')
      expect(running(`sleep\0${time}`)).toEqual([])
      await expect(shell.run('true', { timeoutMs: 1, signal: stop.signal })).rejects.toThrow('stopped')
    })

    test('a process in the background goes on after its call, may write as it likes, and is ended by close', async () => {
      const shell = open()
      const time = nap()
      expect(await run(shell, `(yes | head -c 1000000; echo done > flag; exec sleep ${time}) & echo started`)).toMatch(/^(?:y\n)*(?:y?started\n)?/)
      await vi.waitFor(() => expect(existsSync(join(shell.root, 'flag'))).toBe(true), { timeout: PATIENCE_MS })
      expect(running(`sleep\0${time}`)).toHaveLength(1)
      await shell.close()
      expect(running(`sleep\0${time}`)).toEqual([])
    })

    const HIDING = (time: string): readonly string[] => [
      `sleep ${time} &`,
      `setsid sleep ${time} > /dev/null 2>&1 &`,
      `nohup sleep ${time} > /dev/null 2>&1 &`,
      `(sh -c "setsid sleep ${time} &" &)`,
      `trap '' TERM HUP; (trap '' TERM; setsid sh -c "trap '' TERM HUP; sleep ${time}; :" &) &`,
    ]

    test('SHL-06: when the shell is closed no process the agent started is alive (setsid, nohup, a double fork)', async () => {
      const shell = open()
      const time = nap()
      for (const command of HIDING(time)) await run(shell, command)
      await vi.waitFor(() => expect(running(time).length).toBeGreaterThanOrEqual(5), { timeout: PATIENCE_MS })
      await shell.close()
      expect(running(time)).toEqual([])
      expect(livingProcesses([], shell.tmp)).toEqual([])
      await expect(run(shell, 'true')).rejects.toMatchObject({ code: 'SHELL' })
      await shell.close()
    })

    test('SHL-06: when the host is killed by SIGKILL, so is all it started', async () => {
      const time = nap()
      const code = `import { openShell } from ${JSON.stringify(new URL('../../src/shell/open-shell.ts', import.meta.url).href)}
        const shell = openShell(${JSON.stringify(options({ PATH: process.env['PATH'] }))})
        for (const command of ${JSON.stringify([...HIDING(time), `sleep ${time}`])}) await shell.run(command, { timeoutMs: 600000, signal: new AbortController().signal })`
      const file = join(folder(), 'host.ts')
      writeFileSync(file, code)
      const host = spawn(process.execPath, [file], { stdio: 'inherit' })
      const sleeping = () => running(time).filter((pid) => Number(pid) !== host.pid)
      await vi.waitFor(() => expect(sleeping().length).toBeGreaterThanOrEqual(6), { timeout: PATIENCE_MS })
      await delay(200)
      host.kill('SIGKILL')
      await vi.waitFor(() => expect(sleeping()).toEqual([]), { timeout: PATIENCE_MS, interval: 5 })
    })

    test('calls at the same time do not mix', async () => {
      const shell = open()
      const texts = await Promise.all(Array.from({ length: 8 }, (_, i) => run(shell, `echo ${i}; sleep 0.1; echo ${i}`)))
      expect(texts).toEqual(Array.from({ length: 8 }, (_, i) => `${i}\n${i}\n[exit 0]`))
    })

    test('a shell that ran nothing, and one closed twice at once, close', async () => {
      const shell = open()
      await Promise.all([shell.close(), shell.close()])
    })
  })
}

test.skipIf(skipped !== null)('a sandbox that cannot be made says why, and what to do', async () => {
  const [root, tmp] = [folder(), join(folder(), 'gone')]
  const policy = policyOf(grantOf(root, [['bash', 'execute']]), { home: '/nonexistent', tmp, runtimeDir: null, hidden: [], git: 'none' })
  const shell = openShell({ confined: probe.kind === null ? null : { policy, by: probe }, root, env: {}, passed: [], tmp })
  await expect(shell.run('true', { timeoutMs: 9_000, signal: never })).rejects.toThrow(/^The sandbox of bash could not be made in .*: bwrap: .*gone.*`sandbox` to `off`/)
  await shell.close()
})
