import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { openJournal } from '../../src/journal/journal.ts'
import { agent, cliPlace } from './place.ts'

const ITEMS = 60

const PROGRAM = `\`\`\`js
const { matches } = await tools.grep({ pattern: 'TODO|FIXME', path: input.items[0].item })
return { findings: matches.map(({ path, line, text }) => ({ file: path, line, message: text })) }
\`\`\``

/** A git repository with a marked line in each of many files. */
function repository() {
  const place = cliPlace({ 'project/.cadre/agents/marked.md': agent('marked', 'model: script\ntools: Grep\n', PROGRAM) })
  const { root } = place
  mkdirSync(join(root, 'src'))
  for (let i = 0; i < ITEMS; i += 1) writeFileSync(join(root, 'src', `f${i}.ts`), `export const n = ${i}\n// TODO: number ${i}\n`)
  const git = (...args: string[]) => execFileSync('git', ['-c', 'user.name=Ada', '-c', 'user.email=ada@example.com', ...args], { cwd: root })
  git('init', '-q')
  git('add', '.')
  git('commit', '-qm', 'all')
  return place
}

/** How often each item's run is journaled as completed. */
async function completions(place: ReturnType<typeof repository>): Promise<ReadonlyMap<string, number>> {
  const folder = join(place.folder, 'cadre', 'journal')
  const journal = openJournal({ file: join(folder, readdirSync(folder).find((name) => name.endsWith('.sqlite')) ?? ''), sync: 'normal' })
  const counts = new Map<string, number>()
  for (const event of journal.events({ types: ['delegation.ended'] })) {
    if (event.type !== 'delegation.ended' || !event.data.result.success) continue
    counts.set(event.data.result.title, (counts.get(event.data.result.title) ?? 0) + 1)
  }
  await journal.close()
  return counts
}

const SWEEP = ['sweep', '--agent', 'marked', '--over', 'src/**/*.ts', '--json']

/** Sends the signal once the results file has this many lines. */
const signalAt = (root: string, lines: number, signal: NodeJS.Signals) => (child: { kill(signal: NodeJS.Signals): unknown; on(event: 'close', listener: () => void): unknown }) => {
  const results = join(root, 'out', 'results.jsonl')
  const poll = setInterval(() => {
    if (!existsSync(results) || readFileSync(results, 'utf8').split('\n').length <= lines) return
    clearInterval(poll)
    child.kill(signal)
  }, 5)
  child.on('close', () => clearInterval(poll))
}

describe('CMD-05: a sweep goes on where it was', () => {
  test('killed half-way and run again, every item is run to its end exactly once, and a third run runs only what changed', async () => {
    const place = repository()
    const killed = await place.cadre([...SWEEP, '--out', 'out'], { during: signalAt(place.root, ITEMS / 4, 'SIGKILL') })
    expect(killed.signal).toBe('SIGKILL')
    const before = await completions(place)
    expect(before.size).toBeGreaterThan(0)
    expect(before.size).toBeLessThan(ITEMS)

    const again = await place.cadre([...SWEEP, '--out', 'out'])
    expect([again.code, /error|cadre:/.exec(again.stderr)]).toEqual([0, null])
    expect(JSON.parse(again.stdout)).toMatchObject({ status: 'completed', completed: ITEMS, cached: before.size, findings: { total: ITEMS } })
    expect([...(await completions(place)).values()]).toEqual(Array(ITEMS).fill(1))
    expect(readFileSync(join(place.root, 'out', 'results.jsonl'), 'utf8').trim().split('\n')).toHaveLength(ITEMS)

    writeFileSync(join(place.root, 'src/f7.ts'), '// FIXME: changed\n')
    const third = await place.cadre(SWEEP)
    expect(JSON.parse(third.stdout)).toMatchObject({ status: 'completed', completed: ITEMS, cached: ITEMS - 1 })
  })

  test('Ctrl-C ends it with 130 and everything finished kept (CMD-03, CMD-12)', async () => {
    const place = repository()
    const stopped = await place.cadre([...SWEEP, '--out', 'out'], { during: signalAt(place.root, 10, 'SIGINT') })
    expect(stopped.code).toBe(130)
    expect(JSON.parse(stopped.stdout)).toMatchObject({ status: 'interrupted' })
    const kept = (await completions(place)).size
    expect(JSON.parse((await place.cadre(SWEEP)).stdout)).toMatchObject({ completed: ITEMS, cached: kept })
  })
})

test('CMD-02, CMD-03: what is wrong with a sweep is one message on stderr, nothing on stdout, exit code 2, and leaves no session', async () => {
  const place = repository()
  place.write('project/rows.csv', 'a,b\n1\n')
  for (const [args, said] of [
    [['sweep'], 'Say what to sweep over'],
    [['sweep', '--over', 'nothing/**', '--agent', 'todo-audit'], 'nothing/**'],
    [['sweep', '--over', 'src/*', '--agent', 'todo-adit'], 'Unknown sub-agent type "todo-adit". Available: '],
    [['sweep', '--over', 'src/*', '--parallel', '0'], '--parallel'],
    [['sweep', 'Look at {itm}', '--over', 'src/*', '--agent', 'todo-audit'], '{itm}'],
    [['sweep', 'Look at {item}', '--over', 'src/*'], 'No model is set.'],
    [['sweep', '--over', 'rows.csv', '--agent', 'todo-audit'], 'rows.csv cannot be read as CSV'],
    [['sweep', '--over', 'src/*', '--agent', 'todo-audit', '--out', 'src/f1.ts'], 'is a file'],
    [['swep', '--over', 'src/*'], 'did you mean "sweep"'],
  ] as const) {
    const run = await place.cadre(args)
    expect([run.code, run.stdout]).toEqual([2, ''])
    expect(run.stderr).toContain(said)
    expect(run.stderr).not.toMatch(/^\s+at /m)
  }
  expect(await place.json(['sessions', 'list', '--all'])).toEqual([])
})

test('CMD-05, CMD-12: --over and --out count from where one stands; items and findings are named from the root, and --help says so', async () => {
  const { root, cadre } = repository()
  const cwd = join(root, 'src')
  const run = await cadre(['sweep', '--agent', 'marked', '--over', 'f[12].ts', '--out', 'out'], { cwd })
  expect(run.code).toBe(0)
  const out = (name: string) => readFileSync(join(cwd, 'out', name), 'utf8')
  expect(out('results.jsonl').trim().split('\n').map((line) => (JSON.parse(line) as { item: string }).item).toSorted()).toEqual(['src/f1.ts', 'src/f2.ts'])
  expect(out('report.md')).toContain('| src/f1.ts:2 |')
  expect(out('report.sarif')).toContain('"uri":"src/f1.ts"')
  expect(run.stdout).toContain('\nsrc/f1.ts\n')
  const help = (await cadre(['sweep', '--help'])).stdout.replaceAll(/\s+/g, ' ')
  expect(help).toContain('relative to the current folder')
  expect(help).toContain('Items that are files are named relative to the project root')
})

test('CMD-12: --out . leaves a report.md of the user alone', async () => {
  const place = repository()
  place.write('project/report.md', '# Ours\n')
  const run = await place.cadre(['sweep', '--agent', 'marked', '--over', 'src/f1.ts', '--out', '.'])
  expect([run.code, run.stdout]).toEqual([2, ''])
  expect(run.stderr).toBe(
    'cadre: --out . would overwrite report.md, which no sweep wrote. Name another folder (it is made if it is missing), or move the file away.\n')
  expect(readFileSync(join(place.root, 'report.md'), 'utf8')).toBe('# Ours\n')
})
