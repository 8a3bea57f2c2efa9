import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import type { NewEvent } from '../../src/core/events.ts'
import { journalFile, openJournal } from '../../src/journal/journal.ts'
import type { AgentRow } from '../../src/journal/journal.ts'
import { event, sessionEnded, sessionStarted } from '../journal/story.ts'
import { asTree } from '../../src/cli/sessions/show.ts'
import { startProviderServer } from '../server/provider-server.ts'
import { SCENARIOS } from '../server/scenarios.ts'
import { cliPlace, MAIN } from './place.ts'

type Session = { readonly id: string; readonly agents: readonly AgentRow[] }

describe('CMD-08: cadre sessions', () => {
  test('a run is listed, shown as a tree of its agents, and exported event by event', async () => {
    const script = SCENARIOS['fanout']?.script
    if (!script) throw new Error('the scenario is gone')
    const server = await startProviderServer({ script })
    const place = cliPlace()
    const ran = await place.cadre(['-p', 'Look at all parts', '--model', 'ollama/scripted-model'], { env: { OLLAMA_HOST: server.url } })
    await server.close()
    expect(ran.code).toBe(0)

    const [listed] = (await place.json(['sessions', 'list'])) as readonly Session[]
    const id = listed?.id ?? ''
    expect(listed).toMatchObject({ kind: 'run', status: 'completed', title: 'Look at all parts', root: place.root, agents: 9 })
    expect((await place.cadre(['sessions', 'list'])).stdout).toMatch(
      new RegExp(`^${id} +\\d{4}-\\d\\d-\\d\\d \\d\\d:\\d\\d +completed +[\\d.]+ s +9 +[\\d.]+k +– +Look at all parts$`, 'm'),
    )

    const shown = (await place.json(['sessions', 'show', id])) as Session
    expect(shown.agents.map(({ depth }) => depth)).toEqual([0, ...Array<number>(8).fill(1)])
    const { stdout } = await place.cadre(['sessions', 'show', id.slice(0, 6)])
    expect(stdout).toMatch(/^Look at all parts +sa-\w{8} +main +completed/m)
    expect(stdout.match(/^· .+ sa-\w{8} +explorer +completed/gm)).toHaveLength(8)

    const lines = (await place.cadre(['sessions', 'export', id])).stdout.trimEnd().split('\n').map(
      (line) => JSON.parse(line) as Record<string, unknown>,
    )
    expect(lines[0]).toMatchObject({ v: 1, type: 'session.started', session: id })
    expect(lines.at(-1)).toMatchObject({ type: 'session.ended', data: { status: 'completed' } })
    expect(lines.filter(({ type }) => type === 'delegation.ended')).toHaveLength(9)
    const order = lines.map(({ seq }) => Number(seq))
    expect(order).toEqual(order.toSorted((a, b) => a - b))
  })

  test('JRN-09: child sessions are listed with --all only, and a title cannot move the cursor', async () => {
    const place = cliPlace()
    await tell(place, [
      event(sessionStarted('First \u001b[2Jone'), { session: 'ss-one', time: NOW }),
      event(sessionEnded(), { session: 'ss-one', time: NOW + 61_000 }),
      event(sessionStarted('A child'), { session: 'ss-two', parent: 'sa-x', time: NOW }),
      event(sessionStarted('Cut off', 'sweep'), { session: 'ss-three', time: NOW }),
    ])
    const { stdout } = await place.cadre(['sessions', 'list'])
    expect(stdout).toMatch(/^ss-three .+ interrupted +0 +0 +– +sweep: Cut off\nss-one .+ completed +1 min 1 s +0 +0 +– +First one\n$/m)
    expect(((await place.json(['sessions', 'list', '--all'])) as readonly Session[]).map((session) => session.id)).toEqual(['ss-three', 'ss-two', 'ss-one'])
  })

  test('a session that is not there, or a beginning of several, is told by name and exits with 2', async () => {
    const place = cliPlace()
    expect(await place.cadre(['sessions', 'list'])).toMatchObject({ code: 0, stdout: '', stderr: 'Nothing ran in project yet.\n' })
    await tell(place, ['ss-one', 'ss-two'].map((session) => event(sessionStarted(), { session, time: NOW })))
    expect(await place.cadre(['sessions', 'show', 'ss-'])).toMatchObject({
      code: 2, stdout: '', stderr: 'cadre: Several sessions begin with "ss-": ss-two, ss-one.\n',
    })
    expect(await place.cadre(['sessions', 'export', 'ss-none'])).toMatchObject({
      code: 2, stdout: '', stderr: 'cadre: No session "ss-none" in this root. See cadre sessions list --all.\n',
    })
  })

  test('a reader that leaves early is no fault; an output that cannot be written is', async () => {
    const place = cliPlace()
    await tell(place, Array.from({ length: 1_000 }, (_, at) => event(sessionStarted(`${at} ${'long '.repeat(50)}`), { time: NOW })))
    const shell = (rest: string) => place.run('bash', [
      '-c', `set -o pipefail; "$0" "$@" ${rest}`, process.execPath, MAIN, 'sessions', 'export', 'ss-1',
    ])
    expect(await shell('| head -n 1 | wc -l')).toMatchObject({ code: 0, stdout: expect.stringMatching(/^ *1\n$/), stderr: '' })
    expect(await shell('>/dev/full')).toMatchObject({
      code: 1, stdout: '', stderr: 'cadre: the output cannot be written: ENOSPC: no space left on device, write\n',
    })
  })
})

const NOW = Date.now()

/** Writes into the journal that the command will read. */
async function tell({ folder, root }: { readonly folder: string; readonly root: string }, events: readonly NewEvent[]): Promise<void> {
  const journal = openJournal({ file: journalFile({ folder: join(folder, 'cadre', 'journal'), root }), sync: 'normal' })
  await journal.append(events)
  await journal.close()
}

test('children stand right below their parent, whatever order they came in; one without its parent stands by itself', () => {
  const row = (id: string, parent: string | null): AgentRow => ({ ...EMPTY, id, parent })
  const tree = asTree([
    row('a', null), row('b', null), row('a1', 'a'), row('b1', 'b'), row('a2', 'a'), row('a11', 'a1'), row('lone', 'gone'),
  ])
  expect(tree.map(({ id, depth }) => `${'-'.repeat(depth)}${id}`)).toEqual(['a', '-a1', '--a11', '-a2', 'b', '-b1', 'lone'])
})

const EMPTY: AgentRow = {
  id: '', parent: null, depth: 0, title: '', type: '', model: '', status: 'completed', cause: null, turns: 0, maxTurns: null, toolCalls: 0,
  usage: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 }, costUsd: 0, background: false, started: null, ended: null,
}
