import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { readBare, writeBare } from '../bare/journal.ts'
import type { Bench } from '../bench.ts'
import type { Figure } from '../figure.ts'
import { cadre, fanOut } from '../fan-out-runs.ts'
import type { Harness } from '../fan-out-runs.ts'
import { interleave } from '../interleave.ts'
import type { Scenario } from '../scenario.ts'
import { story } from '../story.ts'
import { monotonicMs } from '../../src/cli/bench/monotonic.ts'
import type { NewEvent } from '../../src/core/events.ts'
import { openJournal } from '../../src/journal/journal.ts'

const SIZES = { usual: { written: 20_000, session: 100_000, children: 100 }, quick: { written: 300, session: 1_000, children: 2 } }
const GROUP = 100
const MS_PER_SECOND = 1_000
const PERCENT = 100

/** Issue 3, "Done when" 5. */
const LIMITS = { eventsPerSecond: 50_000, sharePercent: 10 }

const PRELOAD = pathToFileURL(join(import.meta.dirname, '..', 'journal-share.mjs')).href

export const journal: Scenario = {
  name: 'journal',
  about: 'events per second in groups of 100, reopening a session of 100,000 events, and the share of a fan-out',
  async run(bench) {
    const { written, session, children } = bench.quick ? SIZES.quick : SIZES.usual
    const events = story(written)
    const perSecond = (ms: number) => (written / ms) * MS_PER_SECOND
    const write = await interleave(bench, {
      bare: async () => perSecond(await timed(() => writeBare(join(bench.folder('bare'), 'bare.sqlite'), events, GROUP))),
      cadre: async () => perSecond(await timed(() => writeJournal(join(bench.folder('journal'), 'journal.sqlite'), events))),
    })
    bench.tell(`journal of ${session}`)
    const folder = bench.folder('session')
    const [bareFile, cadreFile] = [join(folder, 'bare.sqlite'), join(folder, 'journal.sqlite')]
    const long = story(session)
    writeBare(bareFile, long, GROUP)
    await writeJournal(cadreFile, long)
    const read = await interleave(bench, {
      bare: () => timed(() => expectCount(readBare(bareFile), session)),
      cadre: () => timed(() => readJournal(cadreFile, session)),
    })
    bench.tell(`journal of a fan-out of ${children}`)
    const shares = await shareOfFanOut(bench, children)
    const figure = (name: string, rest: Pick<Figure, 'unit' | 'better' | 'cadre' | 'bare' | 'limits'>): Figure => ({ scenario: 'journal', name, ...rest })
    return [
      figure('written in groups of 100', { unit: '/s', better: 'more', ...write, limits: [{ of: 'median', least: LIMITS.eventsPerSecond }] }),
      figure(`reopened and read, ${session} events`, { unit: 'ms', better: 'less', ...read, limits: [] }),
      figure(`share of a fan-out, ${children} at 0 ms`, { unit: '%', better: 'less', ...shares, limits: [{ of: 'median', most: LIMITS.sharePercent }] }),
    ]
  },
}

async function writeJournal(file: string, events: readonly NewEvent[]): Promise<void> {
  const journal = openJournal({ file, sync: 'normal' })
  for (let at = 0; at < events.length; at += GROUP) await journal.append(events.slice(at, at + GROUP))
  await journal.close()
}

async function readJournal(file: string, session: number): Promise<void> {
  const journal = openJournal({ file, sync: 'normal' })
  let count = 0
  for (const { seq } of journal.events({ session: 'ss-bench' })) count += seq > 0 ? 1 : 0
  journal.agents('ss-bench')
  await journal.close()
  expectCount(count, session)
}

/**
 * Percent of the wall time of a whole fan-out that its main thread is inside SQLite; bare: what inserting the same events into a bare table
 * would take of it.
 */
async function shareOfFanOut(bench: Bench, children: number): Promise<{ readonly cadre: readonly number[]; readonly bare: readonly number[] }> {
  const project = bench.project()
  const file = join(bench.folder('share'), 'share.json')
  const own = cadre(bench.dist)
  const watched: Harness = {
    ...own,
    command(at) {
      const { argv, env, ...rest } = own.command(at)
      return { ...rest, argv: ['--import', PRELOAD, ...argv], env: { ...env, CADRE_BENCH_JOURNAL: file, CADRE_JOURNAL: join(at.home, 'journal') } }
    },
  }
  const both = await interleave(bench, {
    async run() {
      const { wallMs, home } = await fanOut(bench, watched, project, { children, latencyMs: 0 })
      const { ms } = JSON.parse(readFileSync(file, 'utf8')) as { readonly ms: number }
      const events = await journaled(join(home, 'journal'))
      const bareMs = await timed(() => writeBare(join(bench.folder('bare'), 'bare.sqlite'), events, GROUP))
      return { cadre: (ms / wallMs) * PERCENT, bare: (bareMs / wallMs) * PERCENT }
    },
  })
  return { cadre: both.run.map(({ cadre }) => cadre), bare: both.run.map(({ bare }) => bare) }
}

/** All events of the one journal in a folder. */
async function journaled(folder: string): Promise<readonly NewEvent[]> {
  const [name] = globSync('*.sqlite', { cwd: folder })
  if (name === undefined) throw new Error(`There is no journal in ${folder}.`)
  const journal = openJournal({ file: join(folder, name), sync: 'normal' })
  const events = [...journal.events()]
  await journal.close()
  return events
}

async function timed(work: () => unknown): Promise<number> {
  const began = monotonicMs()
  await work()
  return monotonicMs() - began
}

function expectCount(count: number, wanted: number): void {
  if (count !== wanted) throw new Error(`${count} events were read instead of ${wanted}.`)
}
