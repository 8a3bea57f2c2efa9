import type { Brief, Reply, Report, ToolCall, ToolOutcome } from '../core/contract.ts'

/** Where one agent is, whether it has a thread or not: the turn, and the calls of the last reply that have no outcome yet. */
export type Hand = {
  /** Notes a new reply. */
  deal(reply: Reply): void
  /** The calls the thread asks the main side to run, as the main side knows them; null if one is not in hand or is the thread's own to run. */
  pick(ids: readonly string[]): readonly ToolCall[] | null
  /** Notes outcomes the main side gave. */
  note(outcomes: readonly ToolOutcome[]): void
  /**
   * The outcomes of the last reply's calls, in the order of the calls (TOO-12), once for each reply; null if `own` is not exactly what the thread
   * has to answer.
   */
  settle(own: readonly ToolOutcome[]): readonly ToolOutcome[] | null
  /** The agent's report, if the last reply allows its loop to end now, and the far side counted its turns right; else null. */
  ends(report: Report): Report | null
  /** Notes that a stay in a thread begins, with the last reply as its first. */
  enter(): void
  /** `agent <id> (<type>), turn <n>, calls in hand: <name> (<id>), …`: what an unexpected end names (KIN-13). */
  describe(): string
}

export function emptyHand({ agent, type }: Brief): Hand {
  let turn = 0
  let turnsBefore = 0
  let settled = true
  let calls: readonly ToolCall[] = []
  const asked = new Set<string>()
  const given = new Map<string, ToolOutcome>()

  return {
    deal(reply) {
      turn += 1
      calls = reply.calls
      settled = false
      asked.clear()
      given.clear()
    },
    pick(ids) {
      const picked = ids.map((id) => calls.find((call) => call.id === id && !call.local && !asked.has(id)))
      if (new Set(ids).size < ids.length || picked.includes(undefined)) return null
      for (const id of ids) asked.add(id)
      return picked.filter((call) => call !== undefined)
    },
    note(outcomes) {
      for (const outcome of outcomes) given.set(outcome.callId, outcome)
    },
    settle(own) {
      const byId = new Map(own.map((outcome) => [outcome.callId, outcome]))
      const outcomes = calls.map(({ id }) => given.get(id) ?? byId.get(id)).filter((outcome) => outcome !== undefined)
      const handedIn = own.filter(({ callId, tool }) => calls.some(({ id, name }) => id === callId && name === tool))
      if (settled || outcomes.length < calls.length || handedIn.length < own.length) return null
      settled = true
      return outcomes
    },
    ends: ({ text, turns }) => (calls.length === 0 && turnsBefore + turns === turn ? { text, turns: turn } : null),
    enter() {
      turnsBefore = turn - 1
    },
    describe() {
      const open = calls.filter(({ id }) => !settled && !given.has(id)).map(({ id, name }) => `${name} (${id})`)
      return `agent ${agent} (${type}), turn ${turn}, calls in hand: ${open.join(', ') || 'none'}`
    },
  }
}
