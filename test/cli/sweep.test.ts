import { execFileSync, spawn } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, onTestFinished, test } from 'vitest'
import { openJournal } from '../../src/journal/journal.ts'

const MAIN = fileURLToPath(new URL('../../src/cli/main.ts', import.meta.url))
const ITEMS = 120

/** A git repository with a marked line in each of many files. */
function repository(): { readonly root: string; readonly env: NodeJS.ProcessEnv; readonly journal: () => string } {
  const folder = mkdtempSync(join(tmpdir(), 'cadre-sweep-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const root = join(folder, 'repo')
  mkdirSync(join(root, 'src'), { recursive: true })
  for (let i = 0; i < ITEMS; i += 1) writeFileSync(join(root, 'src', `f${i}.ts`), `export const n = ${i}\n// TODO: number ${i}\n`)
  const git = (...args: string[]) => execFileSync('git', ['-c', 'user.name=Ada', '-c', 'user.email=ada@example.com', ...args], { cwd: root })
  git('init', '-q')
  git('add', '.')
  git('commit', '-qm', 'all')
  const home = join(folder, 'home')
  const journal = () => join(home, 'journal', readdirSync(join(home, 'journal')).find((name) => name.endsWith('.sqlite')) ?? '')
  return { root, env: { PATH: process.env['PATH'], HOME: folder, CADRE_HOME: home, NO_COLOR: '1' }, journal }
}

type Run = { readonly code: number | null; readonly signal: NodeJS.Signals | null; readonly stdout: string; readonly stderr: string }

function cadre(args: readonly string[], { root, env, during }: { readonly root: string; readonly env: NodeJS.ProcessEnv; readonly during?: (child: ReturnType<typeof spawn>) => void }): Promise<Run> {
  const child = spawn(process.execPath, [MAIN, ...args], { cwd: root, env, stdio: ['ignore', 'pipe', 'pipe'] })
  let stdout = ''
  let stderr = ''
  child.stdout.on('data', (text: Buffer) => (stdout += text.toString()))
  child.stderr.on('data', (text: Buffer) => (stderr += text.toString()))
  during?.(child)
  return new Promise((resolve) => child.on('close', (code, signal) => resolve({ code, signal, stdout, stderr })))
}

/** How often each item's run is journaled as completed. */
function completions(file: string): ReadonlyMap<string, number> {
  const journal = openJournal({ file, sync: 'normal' })
  const counts = new Map<string, number>()
  for (const event of journal.events({ types: ['delegation.ended'] })) {
    if (event.type !== 'delegation.ended' || !event.data.result.success) continue
    counts.set(event.data.result.title, (counts.get(event.data.result.title) ?? 0) + 1)
  }
  void journal.close()
  return counts
}

const SWEEP = ['sweep', '--agent', 'todo-audit', '--over', 'src/**/*.ts', '--json']

describe('CMD-05: a sweep goes on where it was', () => {
  test('killed half-way and run again, every item is run to its end exactly once, and a third run runs none', { timeout: 90_000 }, async () => {
    const { root, env, journal } = repository()
    const killed = await cadre([...SWEEP, '--out', 'out'], {
      root,
      env,
      during(child) {
        const results = join(root, 'out', 'results.jsonl')
        const poll = setInterval(() => {
          if (existsSync(results) && readFileSync(results, 'utf8').split('\n').length > ITEMS / 4) child.kill('SIGKILL')
        }, 5)
        child.on('close', () => clearInterval(poll))
      },
    })
    expect(killed.signal).toBe('SIGKILL')
    const before = completions(journal())
    expect(before.size).toBeGreaterThan(0)
    expect(before.size).toBeLessThan(ITEMS)

    const again = await cadre([...SWEEP, '--out', 'out'], { root, env })
    expect([again.code, again.stderr.match(/error|cadre:/)]).toEqual([0, null])
    expect(JSON.parse(again.stdout)).toMatchObject({ status: 'completed', completed: ITEMS, cached: before.size, findings: { total: ITEMS } })
    expect([...completions(journal()).values()]).toEqual(Array(ITEMS).fill(1))
    expect(readFileSync(join(root, 'out', 'results.jsonl'), 'utf8').trim().split('\n')).toHaveLength(ITEMS)

    writeFileSync(join(root, 'src/f7.ts'), '// FIXME: changed\n')
    const third = await cadre(SWEEP, { root, env })
    expect(JSON.parse(third.stdout)).toMatchObject({ status: 'completed', completed: ITEMS, cached: ITEMS - 1 })
  })

  test('Ctrl-C ends it with 130 and everything finished kept (CMD-03, CMD-12)', { timeout: 60_000 }, async () => {
    const { root, env, journal } = repository()
    const stopped = await cadre([...SWEEP, '--out', 'out'], {
      root,
      env,
      during(child) {
        const results = join(root, 'out', 'results.jsonl')
        const poll = setInterval(() => {
          if (!existsSync(results) || readFileSync(results, 'utf8').split('\n').length < 10) return
          clearInterval(poll)
          child.kill('SIGINT')
        }, 5)
        child.on('close', () => clearInterval(poll))
      },
    })
    expect(stopped.code).toBe(130)
    expect(JSON.parse(stopped.stdout)).toMatchObject({ status: 'interrupted' })
    const kept = completions(journal()).size
    const again = await cadre(SWEEP, { root, env })
    expect(JSON.parse(again.stdout)).toMatchObject({ completed: ITEMS, cached: kept })
  })
})

describe('CMD-02, CMD-03: what a sweep is told and answers', () => {
  test('usage errors are one message on stderr and exit 2', { timeout: 60_000 }, async () => {
    const { root, env } = repository()
    for (const [args, text] of [
      [['sweep'], 'Say what to sweep over'],
      [['sweep', '--over', 'nothing/**', '--agent', 'todo-audit'], 'nothing/**'],
      [['sweep', '--over', 'src/*', '--agent', 'todo-adit'], 'Unknown sub-agent type "todo-adit". Available: '],
      [['sweep', '--over', 'src/*', '--parallel', '0'], '--parallel'],
      [['sweep', 'Look at {itm}', '--over', 'src/*', '--agent', 'todo-audit'], '{itm}'],
      [['sweep', 'Look at {item}', '--over', 'src/*'], 'No model is set.'],
    ] as const) {
      const run = await cadre(args, { root, env })
      expect([run.code, run.stdout]).toEqual([2, ''])
      expect(run.stderr).toContain(text)
      expect(run.stderr).not.toMatch(/^\s+at /m)
    }
  })
})
