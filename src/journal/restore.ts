import type { Usage } from '../core/contract.ts'
import type { CadreEvent } from '../core/events.ts'
import type { Json } from '../core/json.ts'
import type { Restored } from '../core/restored.ts'
import type { History } from './history.ts'

/** What a run did, as far as its events tell. */
type Figures = {
  told: Restored['told'][number][]
  spent: { readonly model: string; readonly usage: Usage }[]
  toolCalls: number
  output: string
  value: Json | null
  notes: string[]
}

const noFigures = (): Figures => ({ told: [], spent: [], toolCalls: 0, output: '', value: null, notes: [] })

/** Where an agent's run stands (JRN-03, 05); undefined for one that was never queued or started. */
export function restored(history: History, agent: string): Restored | undefined {
  let figures = noFigures()
  let clock = createClock()
  let turnsBefore = 0
  let turn = 0
  const callIds: string[] = []

  function hear({ type, data, time }: CadreEvent): void {
    switch (type) {
      case 'delegation.queued':
        clock.stop()
        break
      case 'delegation.started':
        clock.stop()
        clock.start(time)
        break
      case 'turn.started':
        clock.runs(time)
        if (data.summary) figures.spent.push({ model: data.summary.model, usage: data.summary.usage })
        break
      case 'turn.ended': {
        const { model, usage, calls, text, value, notes } = data.reply
        clock.runs(time)
        turn = data.turn
        figures.spent.push({ model, usage })
        figures.toolCalls += calls.length
        callIds.push(...calls.map(({ id }) => id))
        if (text) figures.output = text
        if (value !== undefined) figures.value = value
        figures.notes.push(...(notes ?? []))
        break
      }
      case 'usage.lost':
        figures.spent.push(data)
        break
      case 'tool.ended':
        clock.runs(time)
        break
      case 'message.sent':
        if (data.from !== 'user' && data.from !== 'parent') figures.told.push({ from: data.from, about: data.about ?? null })
        break
      case 'delegation.ended':
        figures = noFigures()
        clock = createClock()
        turnsBefore = turn
        break
      default:
        break
    }
  }

  const conversation = history.conversation(agent, { hear })
  // A run that has ended answers no calls any more: the next one begins after them.
  if (conversation.standing().ended) conversation.close()
  const { begun, beginning, messages, asked, reply, outcomes, unread } = conversation.standing()
  if (!begun) return undefined
  return {
    messages,
    beginning,
    turn,
    turnsBefore,
    asked,
    reply,
    outcomes,
    unread: unread.flatMap(({ text, from }) => (from === 'result' ? [] : [{ text, from }])),
    notices: unread.filter(({ from }) => from === 'result').map(({ text }) => text),
    ...figures,
    callIds,
    elapsedMs: clock.elapsedMs(),
  }
}

/** The time an agent ran: from each start to the last sign of it before it was interrupted. Events about it that others write are no sign. */
function createClock() {
  let sum = 0
  let since: number | null = null
  let last = 0
  const running = () => (since === null ? 0 : Math.max(0, last - since))
  return {
    start(time: number): void {
      since = last = time
    },
    runs(time: number): void {
      last = time
    },
    stop(): void {
      sum += running()
      since = null
    },
    elapsedMs: () => sum + running(),
  }
}
