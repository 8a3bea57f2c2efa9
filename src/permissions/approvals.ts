import type { ApprovalAnswer } from '../core/approval.ts'
import { CadreError } from '../core/errors.ts'
import type { JsonObject } from '../core/json.ts'
import { stableJson } from '../core/json.ts'

/** A question that waits for somebody's word. Plain data: it is what the journal keeps of it. */
export type PendingApproval = {
  /** One part per layer of delegation, the call's own last (PRM-09). */
  readonly id: string
  /** The asker's path by title, `releaser/operator` (PRM-07). */
  readonly agent: string
  readonly tool: string
  readonly input: JsonObject
  /** What it asks for, in words for people: `bash`, `unconfined bash`, and why. */
  readonly asks: string
  readonly why: string
  /** ms since 1970. */
  readonly asked: number
  readonly expires: number
}

/** What a question is about. An answer holds for exactly this: an id that a provider gives twice carries no approval over to another call. */
export type AskedCall = Pick<PendingApproval, 'id' | 'tool' | 'input'>

/** How a question ended: by whom, and when (ms since 1970). */
export type SettledApproval = ApprovalAnswer & AskedCall & { readonly by: 'host' | 'user' | 'resume' | 'timeout'; readonly time: number }

/** All questions of a session, as the journal's events make them: pure state, to be rebuilt by any process. */
export type Approvals = { readonly pending: readonly PendingApproval[]; readonly settled: readonly SettledApproval[] }

export const NO_APPROVALS: Approvals = { pending: [], settled: [] }

/**
 * The id of a call from the calls that lead to it, the root run's first: `call_1/call_4/call_9` (PRM-09). A slash in a provider's own id is
 * written `%2F`, so an id has exactly one part per layer.
 */
export const approvalId = (calls: readonly string[]): string => calls.map((call) => call.replaceAll('%', '%25').replaceAll('/', '%2F')).join('/')

/** The calls an id leads through; the inverse of `approvalId`. */
export const callsOf = (id: string): readonly string[] => id.split('/').map((part) => part.replaceAll('%2F', '/').replaceAll('%25', '%'))

/** PRM-07: `releaser/operator wants to run bash: npm publish`. One line, at most 200 characters of the input. */
export function approvalQuestion({ agent, asks, input }: Pick<PendingApproval, 'agent' | 'asks' | 'input'>): string {
  const { command, path, url } = input
  const about = [command, path, url].find((value) => typeof value === 'string') ?? JSON.stringify(input)
  const line = about.replaceAll(/\s+/g, ' ').trim()
  return `${agent} wants to run ${asks}: ${line.length > QUESTION.inputChars ? `${line.slice(0, QUESTION.inputChars)}…` : line}`
}

const QUESTION = { inputChars: 200 }

/** Asking what is already asked or answered changes nothing: a resumed run asks again with the same id. Another call under the id is asked anew. */
export function ask(state: Approvals, approval: PendingApproval): Approvals {
  if ([...state.pending, ...state.settled].some((known) => isSame(known, approval))) return state
  const others = (known: AskedCall): boolean => known.id !== approval.id
  return { pending: [...state.pending.filter(others), approval], settled: state.settled.filter(others) }
}

const isSame = (a: AskedCall, b: AskedCall): boolean => a.id === b.id && a.tool === b.tool && stableJson(a.input) === stableJson(b.input)

/**
 * The state with one question answered. Throws CadreError: NOT_FOUND for an id nobody asked with, USAGE for one that was answered or ran out
 * before; check with `now` (ms since 1970) first, so an answer that comes too late never counts.
 */
export function answer(state: Approvals, id: string, given: ApprovalAnswer, by: 'host' | 'user' | 'resume', now: number): { readonly state: Approvals; readonly settled: SettledApproval } {
  const before = expire(state, now).state
  const question = before.pending.find((approval) => approval.id === id)
  if (question === undefined) throw refusal(before, id)
  return settle(before, { ...given, ...callIn(question), by, time: now })
}

/** The state with everything too old denied, and what that settled, oldest first (PRM-10). */
export function expire(state: Approvals, now: number): { readonly state: Approvals; readonly expired: readonly SettledApproval[] } {
  const expired = state.pending.filter(({ expires }) => expires <= now)
    .map((question): SettledApproval => ({ approved: false, reason: EXPIRED, ...callIn(question), by: 'timeout', time: question.expires }))
  return { state: expired.reduce((next, settled) => settle(next, settled).state, state), expired }
}

const callIn = ({ id, tool, input }: PendingApproval): AskedCall => ({ id, tool, input })

const EXPIRED = 'nobody answered in time'

/** When the next question runs out (ms since 1970), or null: what a timer is set to. */
export const nextExpiry = ({ pending }: Approvals): number | null => (pending.length === 0 ? null : Math.min(...pending.map(({ expires }) => expires)))

/** The answer to a call's question, or null while it waits. */
export const answerTo = ({ settled }: Approvals, call: AskedCall): SettledApproval | null => settled.find((each) => isSame(each, call)) ?? null

/** What a paused run hands out (PRM-08). */
export const pendingApprovals = ({ pending }: Approvals): readonly Pick<PendingApproval, 'id' | 'agent' | 'tool' | 'input'>[] =>
  pending.map(({ id, agent, tool, input }) => ({ id, agent, tool, input }))

/** The outcome of a call whose question was answered with no. */
export const deniedText = (tool: string, { reason }: Pick<ApprovalAnswer, 'reason'>): string =>
  `Declined: ${tool} was not approved${reason ? ` (${reason})` : ''}. Work without it or report what you need.`

const settle = (state: Approvals, settled: SettledApproval): { readonly state: Approvals; readonly settled: SettledApproval } => ({
  state: { pending: state.pending.filter(({ id }) => id !== settled.id), settled: [...state.settled, settled] },
  settled,
})

function refusal(state: Approvals, id: string): CadreError {
  const earlier = state.settled.find((each) => each.id === id)
  if (earlier?.by === 'timeout') return new CadreError('USAGE', `The approval "${id}" ran out at ${new Date(earlier.time).toISOString()} and counts as denied. Continue the agent to have it ask again.`)
  if (earlier !== undefined) return new CadreError('USAGE', `The approval "${id}" was already ${earlier.approved ? 'approved' : 'denied'} (${earlier.by}). Leave it out of the responses.`)
  const waiting = state.pending.map((approval) => approval.id).join(', ') || 'none'
  return new CadreError('NOT_FOUND', `No approval "${id}" was asked for in this session. Waiting: ${waiting}.`)
}
