import { CadreError } from './core/errors.ts'
import { letterOfParent } from './core/letter.ts'
import { withoutNotices } from './core/notice.ts'
import type { ChildRow } from './core/restored.ts'
import { outputPage, NOTHING_YET, resultText } from './core/result-text.ts'
import type { AgentResult } from './core/result.ts'
import { describeEnding, STOPPED_BY_PARENT } from './core/status.ts'
import type { Ending } from './core/status.ts'
import { wholeCharacters } from './core/title.ts'
import { secondsRunning, turnText } from './delivery.ts'
import type { Services } from './services.ts'
import { blocked, hears } from './supervisor.ts'
import type { Agent } from './supervisor.ts'
import type { Companions } from './tools/define-tool.ts'

/** STR-04, 07, in characters and calls. */
const SHOWN = { lastActivity: 2_000, calls: 20, callText: 100, files: 1_000, page: 22_000 } as const

/** Characters of results handed over together, and of each of them at least: the rest is a page away (AGT-08). */
const SHARED = { characters: 200_000, least: 400 } as const

/** STR-01. */
export const notStartedBy = (id: string, own: readonly string[]): CadreError =>
  new CadreError('REFUSED', `No agent ${id} was started by you. Yours: ${own.join(', ') || 'none'}. Ids come from the "Agent id:" line, not from the type.`)

/** One of an agent's own sub-agents: alive, or ended with this result. */
type Child = { readonly row: ChildRow; readonly live: Agent | null }

/** What an agent may do to those it started, and to nobody else (STR-01…07). */
export function companionsOf(services: Services, parent: Agent): Companions {
  const { crew, journal } = services
  const own = (): readonly ChildRow[] => journal.children(parent.subject.agent)

  function find(id: string): Child {
    const rows = own()
    const row = rows.find((child) => child.id === id)
    if (!row) throw notStartedBy(id, rows.map((child) => child.id))
    return { row, live: crew.find(id) ?? null }
  }

  function resultOf(id: string): AgentResult {
    const result = journal.result(id)
    if (!result) throw new CadreError('INVARIANT', `The result of ${id} is not in the journal`)
    return result
  }

  /** A result handed over here is not notified of again (DEL-07). */
  function handOver(id: string, together = 1): string {
    parent.mailbox.withdraw(id)
    const share = Math.max(SHARED.least, Math.floor(SHARED.characters / together))
    return resultText(resultOf(id), Math.min(services.limits().resultChars, share))
  }

  const isBusy = ({ live }: Child): boolean => live !== null && hears(live)

  async function ended(child: Child): Promise<AgentResult> {
    await child.live?.gone
    return resultOf(child.row.id)
  }

  return {
    async send(id, message) {
      const child = find(id)
      const { live } = child
      if (!live || !isBusy(child)) {
        const result = await ended(child)
        throw new CadreError('REFUSED', `${id} has already ended (${describeEnding(result as Ending)}). To go on with it: agent({continue: "${id}", prompt: …}).`)
      }
      if (live.model === null) throw new CadreError('REFUSED', `${id} runs a program, which reads no messages. Wait for it, or end it with agent_stop.`)
      await crew.send(live, letterOfParent(message))
      return { text: `Sent to ${id}; it reads it before its next turn.`, reads: [] }
    },

    async stop(id) {
      const child = find(id)
      if (child.live) crew.stop(child.live, STOPPED_BY_PARENT)
      const result = await ended(child)
      if (result.error !== STOPPED_BY_PARENT.reason) {
        return { text: `${id} has already ended (${describeEnding(result as Ending)}); nothing was stopped.\n${handOver(id)}`, reads: [], hands: [id] }
      }
      parent.mailbox.withdraw(id)
      const last = withoutNotices(wholeCharacters(result.output.slice(0, SHOWN.lastActivity))) || NOTHING_YET
      return { text: `Stopped ${id} (${result.title}). No task notification will follow.\n${last}`, reads: [], hands: [id] }
    },

    async wait(ids, until, timeout) {
      const named = ids?.map((id) => find(id).row.id)
      const wanted = named ?? [...new Set([...journal.undelivered(parent.subject.agent), ...[...parent.children].filter(({ started }) => started.background).map(({ subject }) => subject.agent)])]
      if (wanted.length === 0) return { text: 'None of your sub-agents runs in the background.', reads: [] }
      const running = () => wanted.filter((id) => crew.find(id))
      const isOver = () => {
        const left = running().length
        return left === 0 || (until === 'any' && left < wanted.length)
      }
      // A message to it ends the wait, so that it is read.
      await blocked(parent, async () => {
        const deadline = performance.now() + (timeout ?? services.limits().wait) * 1000
        for (let left = 1; !isOver() && parent.mailbox.unread.length === 0 && left > 0; left = deadline - performance.now()) {
          await parent.mailbox.change(parent.signal, Math.max(0, deadline - performance.now()))
        }
      })
      const still = new Set(running())
      const done = wanted.filter((id) => !still.has(id))
      const lines = [...still].flatMap((id) => {
        const live = crew.find(id)
        return live ? `Still running: ${live.started.title} (${id}), ${turnText(live)}` : []
      })
      return { text: [...done.map((id) => handOver(id, done.length)), ...(lines.length > 0 ? [lines.join('\n')] : [])].join('\n\n'), reads: [], hands: done }
    },

    async list() {
      const rows = own()
      return { text: rows.length === 0 ? 'You have started no sub-agents.' : withoutNotices(rows.map((row) => listLine(row, crew.find(row.id) ?? null)).join('\n')), reads: [] }
    },

    async check(id, offset) {
      const child = find(id)
      const { live, row } = child
      if (!live) {
        const result = resultOf(id)
        if (offset > 0) return { text: outputPage(result.output, id, offset, SHOWN.page), reads: [] }
        return { text: handOver(id), reads: [], hands: [id] }
      }
      return { text: withoutNotices(checkText(row, live, journal.recentCalls(id, SHOWN.calls))), reads: [] }
    },
  }
}

/** `queued`, `running`, `waiting`, or how it was stopped: shown at once (STR-04). */
function statusOf(agent: Agent): string {
  if (agent.stopped) return agent.stopped.ending.status
  if (!agent.clock.started) return 'queued'
  return agent.slot?.lent ? 'waiting' : 'running'
}

const turnsOf = (agent: Agent): string => `${agent.session?.progress().turns ?? 0}/${agent.started.grant.limits.maxTurns}`

/** STR-07. */
function listLine(row: ChildRow, live: Agent | null): string {
  if (live) return `${row.id} ${row.title} ${statusOf(live)} turn ${turnsOf(live)} ${secondsRunning(live)} s${live.repeating ? ' (repeating)' : ''}`
  const seconds = row.end && row.started !== null ? Math.round((row.end.time - row.started) / 1000) : 0
  return `${row.id} ${row.title} ${row.end?.status ?? 'lost'} turn ${row.turns}/${row.maxTurns} ${seconds} s`
}

function checkText(row: ChildRow, live: Agent, calls: ReturnType<Services['journal']['recentCalls']>): string {
  const seconds = secondsRunning(live)
  const ago = (time: number) => `${Math.max(0, Math.round((Date.now() - time) / 1000))} s ago`
  const { expectedDuration: expected } = row
  const overdue = expected !== null && seconds > expected ? ` (overdue by ${Math.round(seconds - expected)} s)` : ''
  return [
    `Sub-agent: ${row.title} (${row.type})`,
    `Status: ${statusOf(live)} (turn ${turnsOf(live)})${live.repeating ? ', repeating' : ''}`,
    `Started: ${row.started === null ? 'not yet' : ago(row.started)}  Last active: ${ago(live.lastActive)}`,
    ...(expected === null ? [] : [`Expected: ${expected} s${overdue}`]),
    calls.length === 0 ? 'No tool calls yet.' : 'Last tool calls:',
    ...calls.map(({ call, outcome }) => `- ${call.name} ${cut(JSON.stringify(call.input))} → ${outcome === null ? 'running' : cut(outcome.text)}`),
    `Files written: ${live.written.size === 0 ? 'none' : cut([...live.written].join(', '), SHOWN.files)}`,
    ...(live.todo.length === 0 ? [] : ['Its list:', ...live.todo.map(({ text, status }) => `- [${MARKS[status]}] ${cut(text)}`)]),
  ].join('\n')
}

const MARKS = { pending: ' ', in_progress: '~', done: 'x' } as const

const cut = (text: string, characters: number = SHOWN.callText): string => {
  const line = text.replaceAll(/\s+/g, ' ')
  return line.length <= characters ? line : `${wholeCharacters(line.slice(0, characters))}…`
}
