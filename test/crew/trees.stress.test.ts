import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Orchestrator } from '../../src/api.ts'
import type { CadreEvent } from '../../src/core/events.ts'
import { isWithin } from '../../src/core/grant.ts'
import type { JsonObject } from '../../src/core/json.ts'
import { ofType } from '../delegation/lab.ts'
import type { Answer, Script, ScriptRequest } from '../server/provider-server.ts'
import { messageText, objects } from '../server/message-text.ts'
import { openStage, userTexts } from './stage.ts'

/** Layers of delegation. */
const DEPTH = 3

const LEADS = ['chief', 'reader', 'narrow'] as const

/** Types that may delegate, each to less than the one before. */
const AGENTS: JsonObject = {
  chief: { description: 'leads with all it has', tools: ['read', 'ls', 'grep', 'agent'], prompt: 'You lead.' },
  reader: { description: 'leads and reads', tools: ['read', 'Agent(explorer, reader, narrow)'], prompt: 'You lead.' },
  narrow: { description: 'leads explorers only', tools: ['ls', 'read', 'Agent(explorer)'], disallowedTools: ['grep'], prompt: 'You lead.' },
}

/** A life that lasts longer hangs: it is some hundred times what one takes. */
const HANGS_MS = 20_000

/** An agent of the plan. `parent` counts back among those that may lead; the rest says how it is started and what becomes of it. */
type Planned = {
  readonly parent: number
  readonly lead: (typeof LEADS)[number] | null
  readonly background: boolean
  readonly fork: boolean
  readonly fewer: boolean
  readonly reads: boolean
  /** `hangs`: its parent stops it. `stopped`: its parent stops it, whatever it is doing. */
  readonly end: 'finishes' | 'hangs' | 'stopped' | 'fails' | 'reaches its limit'
  /** Its parent goes on with it once it has ended. */
  readonly continued: boolean
}

type Node = Planned & { readonly name: string; readonly depth: number; readonly children: Node[] }

const planned: fc.Arbitrary<Planned> = fc.record({
  parent: fc.nat(5),
  lead: fc.option(fc.constantFrom(...LEADS), { nil: null, freq: 1 }),
  background: fc.boolean(),
  fork: fc.boolean(),
  fewer: fc.boolean(),
  reads: fc.boolean(),
  end: fc.constantFrom('finishes', 'finishes', 'hangs', 'stopped', 'fails', 'reaches its limit'),
  continued: fc.boolean(),
})

/** What happens to a session from outside: after so many events of a life it dies, or whoever that event is about is stopped by the user. */
const fates = fc.record({
  deaths: fc.array(fc.integer({ min: 3, max: 50 }), { maxLength: 3 }),
  stops: fc.array(fc.integer({ min: 8, max: 60 }), { maxLength: 2 }),
  running: fc.integer({ min: 1, max: 4 }),
})

function treeOf(plan: readonly Planned[]): Node {
  const root: Node = { parent: 0, lead: 'chief', background: false, fork: false, fewer: false, reads: false, end: 'finishes', continued: false, name: 'root', depth: 0, children: [] }
  const leads = [root]
  for (const [i, one] of plan.entries()) {
    const parent = leads.at(-1 - (one.parent % leads.length)) ?? root
    const node: Node = { ...one, name: `n${i}`, depth: parent.depth + 1, children: [], end: one.end === 'hangs' && !one.background ? 'finishes' : one.end }
    parent.children.push(node)
    if (node.lead && node.depth < DEPTH) leads.push(node)
  }
  return root
}

const allOf = (node: Node): readonly Node[] => [node, ...node.children.flatMap(allOf)]

const READ = { calls: [{ name: 'read', input: { path: 'a.txt' } }] }
const promptOf = (name: string): string => `You are ${name}.`
const delegation = (input: JsonObject) => ({ name: 'agent', input })

const callOf = ({ name, lead, background, fork, fewer, end }: Node) => delegation({
  description: name,
  prompt: promptOf(name),
  subagent_type: lead ?? 'explorer',
  run_in_background: background,
  ...(fork && { forkContext: true }),
  ...(fewer && { tools: lead ? ['read', 'agent'] : ['read'] }),
  ...(end === 'reaches its limit' && { max_turns: 1 }),
})

const nameIn = (message: JsonObject | undefined): string | undefined => (message?.['role'] === 'user' ? /You are (\w+)\.$/.exec(messageText(message['content']))?.[1] : undefined)

/** What an agent's conversation says since it was told who it is. */
function own(request: ScriptRequest): { readonly name: string; readonly turn: number; readonly text: string; readonly open: boolean } {
  const messages = objects(request.body['messages'])
  const since = messages.slice(messages.findLastIndex((message) => nameIn(message) !== undefined))
  return {
    name: nameIn(since[0]) ?? '',
    turn: 1 + since.filter(({ role }) => role === 'assistant').length,
    text: JSON.stringify(since),
    open: userTexts(request).at(-1)?.includes('- [ ] [subagent:') === true,
  }
}

/** Ids of sub-agents by their titles, as results and starts name them. */
function idsIn(text: string): ReadonlyMap<string, string> {
  const starts = text.matchAll(/(?:Started|Queued) in the background as (sa-[0-9a-z]{8}) \((\w+)\)/g)
  const results = text.matchAll(/Agent id: (sa-[0-9a-z]{8})(?: \(continued from [^)]*\))?\\nSub-agent: (\w+) \(/g)
  return new Map([...starts, ...results].map(([, id = '', title = '']) => [title, id]))
}

/** What every agent of a tree answers, whichever life of the process asks. */
function scriptOf(tree: Node, probes: number): Script {
  const nodes = new Map(allOf(tree).map((node) => [node.name, node]))

  function steps(node: Node, ids: ReadonlyMap<string, string>): readonly Answer[] {
    const stopped = node.children.filter(({ end, background }) => background && (end === 'stopped' || end === 'hangs')).flatMap(({ name }) => ids.get(name) ?? [])
    const continued = node.children.filter((child) => child.continued && !child.background).flatMap(({ name }) => ids.get(name) ?? [])
    return [
      ...(node.reads ? [READ] : []),
      // Who hangs holds a place until it is stopped: so not beside those that are waited for.
      ...[false, true].map((hangs) => node.children.filter(({ end }) => (end === 'hangs') === hangs)).filter(({ length }) => length > 0).map((some) => ({ calls: some.map(callOf) })),
      ...(stopped.length > 0 ? [{ calls: stopped.map((id) => ({ name: 'agent_stop', input: { agent_id: id } })) }] : []),
      ...(continued.length > 0 ? [{ calls: continued.map((id, i) => delegation({ continue: id, prompt: promptOf(`c${i}`), run_in_background: i % 2 === 1 })) }] : []),
    ]
  }

  return (request) => {
    const { name, turn, text, open } = own(request)
    const node = nodes.get(name)
    if (!node) return { text: `${name} is done` }
    if (node.end === 'hangs') return { silent: true }
    if (node.end === 'fails') return { status: 400, text: 'no' }
    if (node.end === 'reaches its limit') return READ
    const step = steps(node, idsIn(text))[turn - 1]
    if (step) return step
    if (open) return { text: `${name} has others at work` }
    // Once all its agents have ended there is a place for as many as may run.
    if (name === 'root' && !text.includes('You are probe')) {
      return { calls: Array.from({ length: probes }, (_, i) => delegation({ description: 'probe', prompt: promptOf(`probe${i}`), subagent_type: 'explorer' })) }
    }
    return { text: `${name} is done` }
  }
}

const FINAL = ['completed', 'partial', 'failed', 'killed', 'lost']

function expectSettled(cadre: Orchestrator, session: string): void {
  const events: readonly CadreEvent[] = [...cadre.journal.events({ session })]
  const starts = new Map<string, Extract<CadreEvent, { type: 'delegation.started' | 'delegation.queued' }>>()
  for (const event of events) if (event.type === 'delegation.started' || event.type === 'delegation.queued') starts.set(event.agent, event)
  const ends = ofType(events, 'delegation.ended')
  // Every agent has one end, and it is final.
  expect(ends.map(({ agent }) => agent).toSorted()).toEqual([...starts.keys()].toSorted())
  for (const { data } of ends) expect(FINAL).toContain(data.result.status)
  const statuses = new Map(ends.map(({ agent, data }) => [agent, data.result.status]))
  expect(cadre.agents.list()).toEqual([])
  expect(cadre.journal.agents(session).map(({ status }) => status).filter((status) => !FINAL.includes(status))).toEqual([])
  // No child holds what its parent does not.
  for (const { agent, parent, data: { grant } } of starts.values()) {
    const above = parent === null ? undefined : starts.get(parent)?.data.grant
    if (above) expect({ agent, within: isWithin(grant, above) && grant.depth < above.depth }).toEqual({ agent, within: true })
  }
  // What came to an agent that went on to its end was told it once, unless it was handed it before.
  const told = ofType(events, 'notification')
  const hands = ofType(events, 'tool.ended').flatMap(({ seq, data }) => (data.outcome.hands ?? []).map((of) => ({ seq, of })))
  for (const { agent, parent, data: { background } } of starts.values()) {
    if (parent === null || statuses.get(parent) !== 'completed') continue
    const notices = told.filter(({ data }) => data.of === agent)
    const handed = hands.filter(({ of }) => of === agent)
    expect({ agent, notices: notices.length <= 1, told: notices.length + handed.length > 0 }).toEqual({ agent, notices: true, told: background || handed.length > 0 })
    for (const notice of notices) expect(handed.filter(({ seq }) => seq < notice.seq)).toEqual([])
  }
  for (const agent of starts.keys()) if (statuses.get(agent) === 'completed') expect(cadre.journal.undelivered(agent)).toEqual([])
  // No slot is held by anyone.
  expect(ofType(events, 'delegation.queued').filter(({ data }) => data.title === 'probe')).toEqual([])
  expect(new Set(ofType(events, 'delegation.started').filter(({ data }) => data.title === 'probe').map(({ agent }) => agent)).size).toBeGreaterThan(0)
}

test('JRN-05, DEL-06, GRA-01: after any starts, stops, failures, deaths and resumes nothing runs or is owed, and no child held more than its parent', async () => {
  await fc.assert(fc.asyncProperty(fc.array(planned, { minLength: 1, maxLength: 8 }), fates, async (plan, { deaths, stops, running }) => {
    const stage = await openStage({
      settings: { limits: { maxRunning: running, maxDepth: DEPTH } },
      script: scriptOf(treeOf(plan), running),
      orchestrator: { agents: AGENTS },
    })
    let session = ''
    const stopping = [...stops]
    for (let death = 0; ; death += 1) {
      let count = 0
      let cadre: Orchestrator | null = null
      const { died, events } = await stage.mayDie(
        () => (count += 1) === deaths[death],
        async (life) => {
          cadre = life
          const hung = setTimeout(() => {
            console.error('Hangs, with', ...life.agents.list().map(({ id, title, status }) => `${title} (${id}) ${status}`))
            for (const { seq, agent, type, data } of life.journal.events({ session })) console.error(seq, agent, type, JSON.stringify(data).slice(0, 200))
            void life.close()
          }, HANGS_MS)
          const { status } = await (session === '' ? life.run({ prompt: promptOf('root') }) : life.resume({ session }))
          await life.settled()
          clearTimeout(hung)
          expect(status).toBe('completed')
          expectSettled(life, session)
        },
        {
          onEvent(event) {
            session = event.session
            if (event.depth === 0 || count + 1 !== stopping[0]) return
            stopping.shift()
            cadre?.agents.stop(event.agent).catch(() => null)
          },
        },
      )
      if (!died) break
      // It had just ended: there is nothing to go on with.
      if (events.at(-1)?.depth === 0 && (events.at(-1)?.type === 'delegation.ended' || events.at(-1)?.type === 'session.ended')) break
    }
    await stage.close()
  }), { numRuns: 20, endOnFailure: true })
})
