import { spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { CadreEvent } from '../../../src/core/events.ts'
import { openJournal } from '../../../src/journal/journal.ts'
import { BUILT } from '../../built.ts'
import { ofType } from '../../delegation/lab.ts'
import type { ProviderServer, RecordedRequest } from '../../server/provider-server.ts'
import { startProviderServer } from '../../server/provider-server.ts'
import { SOAK } from '../../soak.ts'
import { crewScript, EVERYONE, whoAsks } from './crew-script.ts'
import type { Life, LifeEnd } from './life.ts'

const HARNESS = fileURLToPath(new URL('fixtures/harness.ts', import.meta.url))

/** One point is killed and resumed while another one is looked at. */
const SIDE_BY_SIDE = 2

const NEVER = 0

/** Every point in the soak tests, every fifth in the stress tests. */
const STRIDE = SOAK ? 1 : 5

/** Points at which the resume is killed, too. */
const SAMPLES = 8

/** A life that lasts longer hangs: it is some hundred times what one takes. */
const HANGS_MS = 40_000

let folder = ''
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'cadre-crash-'))
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** A project, its provider, and what its processes leave behind. */
async function openStage(name: string) {
  const place = join(folder, name)
  mkdirSync(join(place, 'project'), { recursive: true })
  writeFileSync(join(place, 'project', 'a.txt'), 'alpha\n')
  const server = await startProviderServer({ script: crewScript() })
  return {
    server,
    /** Runs a process to its end, or its death: then null. */
    live: (kind: Life['kind'], killAt: number) => live({ built: BUILT, folder: place, url: server.url, kind, killAt }),
    events: (): readonly CadreEvent[] => readJournal(join(place, 'home', 'journal'), (journal) => [...journal.events()]),
    undelivered: (agents: readonly string[]) => readJournal(join(place, 'home', 'journal'), (journal) => agents.flatMap((agent) => journal.undelivered(agent))),
    async close() {
      await server.close()
      rmSync(place, { recursive: true })
    },
  }
}

function readJournal<T>(home: string, look: (journal: ReturnType<typeof openJournal>) => T): T {
  const [file = ''] = readdirSync(home).filter((name) => name.endsWith('.sqlite'))
  const journal = openJournal({ file: join(home, file), sync: 'normal' })
  try {
    return look(journal)
  } finally {
    void journal.close()
  }
}

async function live(life: Life): Promise<LifeEnd | null> {
  const child = spawn(process.execPath, [HARNESS, JSON.stringify(life)], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, NODE_COMPILE_CACHE: join(folder, 'compiled') }, // half of what a life costs
  })
  let out = ''
  let errors = ''
  child.stdout.on('data', (data: Buffer) => { out += data.toString() })
  child.stderr.on('data', (data: Buffer) => { errors += data.toString() })
  const deadline = setTimeout(() => child.kill('SIGTERM'), HANGS_MS)
  const signal = await new Promise((resolve) => child.on('close', (_code, by) => resolve(by)))
  clearTimeout(deadline)
  if (signal === 'SIGTERM') throw new Error(`A ${life.kind} of the crew hangs`)
  if (signal === 'SIGKILL') return null
  if (out === '') throw new Error(`A process of the crew failed:\n${errors}`)
  return JSON.parse(out) as LifeEnd
}

/** The requests of one turn of one agent, and their bodies without what differs from try to try. */
const turnOf = ({ request }: RecordedRequest): string => (request ? `${whoAsks(request)} ${request.turn}` : '')
const bodyOf = ({ text }: RecordedRequest): string => text.replaceAll(/\(spawned [^)]*\)/g, '')

function titles(events: readonly CadreEvent[]): ReadonlyMap<string, string> {
  return new Map(events.flatMap(({ type, agent, data }) => (type === 'delegation.queued' || type === 'delegation.started' ? [[agent, data.title] as const] : [])))
}

function repliesIn(events: readonly CadreEvent[]): ReadonlySet<string> {
  const names = titles(events)
  return new Set(ofType(events, 'turn.ended').map(({ agent, data }) => `${names.get(agent) ?? ''} ${data.turn}`))
}

/** No request whose reply is in the journal is among the later ones. */
function expectNoneAskedAgain(before: readonly CadreEvent[], requests: readonly RecordedRequest[], from: number): void {
  const journaled = repliesIn(before)
  const answered = new Set(requests.slice(0, from).filter((request) => journaled.has(turnOf(request))).map(bodyOf))
  const again = requests.slice(from).filter((request) => journaled.has(turnOf(request)) || answered.has(bodyOf(request)))
  expect(again.map(turnOf)).toEqual([])
}

const times = (list: readonly unknown[], what: unknown): number => list.filter((one) => one === what).length

/** Everyone ended once and for good, every result came to its parent once, and nothing is left. */
function expectWhole(events: readonly CadreEvent[], server: ProviderServer): void {
  const names = titles(events)
  expect([...names.values()].toSorted()).toEqual([...EVERYONE].toSorted())
  const ended = ofType(events, 'delegation.ended')
  expect(ended.map(({ agent }) => names.get(agent) ?? agent).toSorted()).toEqual([...EVERYONE].toSorted())
  expect(ended.map(({ data }) => data.result.status)).toEqual(EVERYONE.map(() => 'completed'))

  const noticed = ofType(events, 'notification').map(({ data }) => data.of)
  const outcomes = ofType(events, 'tool.ended')
  const handed = outcomes.flatMap(({ data }) => data.outcome.hands ?? [])
  const starts = new Map(events.flatMap((event) => (event.type === 'delegation.started' ? [[event.agent, event]] : [])))
  for (const { agent, parent, data: { callId, background } } of starts.values()) {
    const answers = outcomes.filter((event) => event.agent === parent && event.data.outcome.callId === callId)
    if (parent === null) continue
    expect(answers).toHaveLength(1)
    expect([names.get(agent), times(noticed, agent) + times(handed, agent)]).toEqual([names.get(agent), background ? 1 : 0])
    if (!background) expect(answers[0]?.data.outcome.text).toContain(`Agent id: ${agent}\n`)
  }
  // What its model read last: each notice once, each result once.
  const last = server.requests.findLast(({ request }) => request !== null && whoAsks(request) === 'You are root.')?.text ?? ''
  for (const { agent, data } of starts.values()) if (data.background) expect([...last.matchAll(new RegExp(`Agent id: ${agent}`, 'g'))]).toHaveLength(1)
}

describe('JRN-03, DEL-06: a process killed at every event of a crew of nine on two levels', () => {
  test('loses no result, gives none twice and asks for no journaled reply again, once it is resumed', async () => {
    const calm = await openStage('calm')
    const undisturbed = await calm.live('run', NEVER)
    if (!undisturbed || !('result' in undisturbed)) throw new Error(`The undisturbed run failed: ${JSON.stringify(undisturbed)}`)
    expectWhole(calm.events(), calm.server)
    const answer = undisturbed.result.output
    await calm.close()

    const points = { next: 1, killed: 0, last: Infinity }
    const take = () => (points.next += STRIDE) - STRIDE
    async function work(): Promise<void> {
      for (let killAt = take(); killAt < points.last; killAt = take()) {
        if (await killedAt(killAt, answer)) points.killed += 1
        else points.last = Math.min(points.last, killAt)
      }
    }
    await Promise.all(Array.from({ length: SIDE_BY_SIDE }, work))
    console.log(`killed and resumed at ${points.killed} points`)
    expect(points.killed * STRIDE).toBeGreaterThan(undisturbed.events * 0.9)

    // A sample: killed once more while it goes on, and then again.
    const sample = Array.from({ length: SAMPLES }, (_, i) => ({ killAt: Math.floor((i + 0.5) * points.killed * STRIDE / SAMPLES), again: [5 + 3 * i, 9 + i] }))
    for (const { killAt, again } of sample) expect(await killedAt(killAt, answer, again)).toBe(true)
    console.log(`killed three times at ${sample.length} points`)
  }, 900_000)
})

/** Whether the run got as far as this event, was killed there, and was whole after its resume. `again`: events of the resume after which that is killed, too. */
async function killedAt(killAt: number, answer: string, again: readonly number[] = []): Promise<boolean> {
  const stage = await openStage(`at-${[killAt, ...again].join('-')}`)
  try {
    if (await stage.live('run', killAt)) return false
    let before = stage.events()
    let asked = stage.server.requests.length
    for (const next of [...again, NEVER]) {
      const end = await stage.live('resume', next)
      expectNoneAskedAgain(before, stage.server.requests, asked)
      before = stage.events()
      asked = stage.server.requests.length
      if (end === null) continue
      expect(end.left).toBe(0)
      const root = ofType(before, 'delegation.ended').find(({ depth }) => depth === 0)
      if (titles(before).size === 0) {
        expect(end).toMatchObject({ error: { code: 'USAGE', message: expect.stringContaining('was interrupted before its run began') } })
        break
      }
      // It had all been done: what is left is to read its result.
      if ('error' in end) expect(end.error).toMatchObject({ code: 'USAGE', message: expect.stringContaining('has ended') })
      else expect(end.result).toMatchObject({ status: 'completed', output: answer })
      expect(root?.data.result).toMatchObject({ status: 'completed', output: answer })
      expectWhole(before, stage.server)
      expect(stage.undelivered([...titles(before).keys()])).toEqual([])
      break
    }
    await stage.close()
    return true
  } catch (cause) {
    throw new Error(`Killed at event ${[killAt, ...again].join(', then ')} (${stage.events().at(killAt - 1)?.type ?? 'never'})`, { cause })
  }
}
