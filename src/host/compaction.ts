import type { Message, ModelRequest, Reply, ToolSchema, Usage } from '../core/contract.ts'
import { totalTokens } from '../core/contract.ts'
import type { History } from '../core/summary.ts'
import { endOfTurn, leadOf } from '../core/summary.ts'
import { summaryRequest } from './summary-request.ts'
import { BYTES_PER_TOKEN, bytesOf, frameBytes, guessTokens, mostTokens } from './tokens.ts'

/** PRO-08: turns that stay whole; fewer where they do not fit, but never none. */
const KEPT_TURNS = 10

const SHARES = {
  /** Of the limit: what a history may take that keeps ten turns, and one that keeps fewer: it is not to be due again at once. */
  ten: 0.9,
  fewer: 0.75,
  /** Of the limit: what a summary is expected to take, and must at least make room for. */
  summary: 0.1,
  /** Of the window: what the request for the summary may take. */
  request: 0.8,
} as const

/** A summary is expected to be no longer than this, in tokens. */
const SUMMARY_TOKENS = 4_000

/** Every model holds this many tokens, whatever went wrong. */
const LEAST_WINDOW = 4_000

export type CompactionInput = History & {
  readonly system: string
  readonly tools: readonly ToolSchema[]
  /** As reported for the last reply in `messages`; null: nobody knows. */
  readonly used: Usage | null
  /** The model's context window in tokens. */
  readonly window: number
  /** Share of it at which a history is compacted. */
  readonly compactAt: number
  /** Tokens; only lowers the window (TYP-10). */
  readonly autoCompactWindow?: number
  /** The model refused the request as too long: it holds less than we think. */
  readonly forced?: boolean
}

export type Compaction = {
  /** What to ask the same model for. It holds no calls and needs no tools: every wire takes it. */
  readonly request: Pick<ModelRequest, 'system' | 'tools' | 'messages'>
  /** See Summary: what the answer will stand for. */
  readonly turns: number
  readonly origin?: true
  /** Bytes of that: a longer summary is of no use. */
  readonly bytes: number
}

/** Whether a history is to be compacted before the next request, and how; null: not now, or there is nothing that could be left out. Pure. */
export function planCompaction(input: CompactionInput): Compaction | null {
  const { messages, keepFirst, turn, forced = false } = input
  const reported = reportedSize(input)
  // Most turns end here, without a walk through the whole history.
  if (!forced && reported !== null && reported < input.compactAt * Math.min(input.window, input.autoCompactWindow ?? Infinity)) return null

  const sizes = messages.map((message) => bytesOf([message]))
  const bytes = sum(sizes) + frameBytes(input.system, input.tools)
  const size = reported === null ? guessTokens(bytes) : Math.min(reported, mostTokens(bytes))
  const held = forced ? heldWindow(input, size) : input.window
  const limit = Math.floor(input.compactAt * Math.min(held, input.autoCompactWindow ?? Infinity))
  if (size < limit && !forced) return null

  const tokensPerByte = size / bytes
  const summaryTokens = Math.min(SUMMARY_TOKENS, Math.ceil(limit * SHARES.summary))
  const fits = (cut: Cut): boolean =>
    tokensPerByte * (bytes - cut.bytes) + summaryTokens <= limit * (turn - cut.turns === KEPT_TURNS ? SHARES.ten : SHARES.fewer)
  const worth = ({ replaced, bytes: size }: Cut): boolean =>
    replaced.some(({ role }) => role === 'assistant') && (forced || tokensPerByte * size > 2 * summaryTokens)

  const cuts = cutsOf({ messages, keepFirst, turn }, sizes).filter(worth)
  const cut = cuts.find(fits) ?? cuts.at(-1)
  if (!cut) return null
  const { turns, origin } = cut
  const most = Math.floor(SHARES.request * held - summaryTokens) * BYTES_PER_TOKEN
  return { request: summaryRequest({ task: leadOf(messages.slice(0, keepFirst)), replaced: cut.replaced, bytes: most }), turns, ...(origin && { origin }), bytes: cut.bytes }
}

/** The text that will stand for what a compaction replaces; null for an answer that is empty, or longer than that: then the history stays as it is. */
export function summaryText({ bytes }: Compaction, { text }: Pick<Reply, 'text'>): string | null {
  const whole = `${PREFACE}\n\n${text.trim()}`
  return text.trim() === '' || bytesOf([{ role: 'user', text: whole }]) >= bytes ? null : whole
}

const PREFACE = 'Your conversation up to here was too long for you. In its place, your own summary of it:'

type Cut = { readonly turns: number; readonly origin?: true; readonly replaced: readonly Message[]; readonly bytes: number }

/** What could be left out, the least first: turns before the last ten, then what the conversation began with, then more and more turns. */
function cutsOf(history: History, sizes: readonly number[]): readonly Cut[] {
  const { messages, keepFirst, turn } = history
  const beginning = messages.slice(0, keepFirst)
  const lead = leadOf(beginning)
  const before = beginning.filter((message) => !lead.includes(message))
  const beforeBytes = bytesOf(before)
  /** Those up to here are in an earlier summary. */
  const gone = turn - messages.filter(({ role }, i) => i >= keepFirst && role === 'assistant').length
  const cutAt = (wanted: number, withOrigin: boolean): Cut => {
    const turns = Math.max(gone, wanted)
    const end = endOfTurn(history, turns)
    const replaced = [...(withOrigin ? before : []), ...messages.slice(keepFirst, end)]
    return { turns, ...(withOrigin && { origin: true as const }), replaced, bytes: (withOrigin ? beforeBytes : 0) + sum(sizes.slice(keepFirst, end)) }
  }
  const mostKept = Math.min(KEPT_TURNS, turn - gone)
  const fewer = Array.from({ length: Math.max(1, mostKept) }, (_, i) => turn - mostKept + i)
  return [cutAt(turn - mostKept, false), ...fewer.map((turns) => cutAt(turns, before.length > 0))]
}

const sum = (numbers: readonly number[]): number => numbers.reduce((total, number) => total + number, 0)

/** Tokens the next request will have: as reported for the last one, and a guess at what came since; null when nothing was reported. */
function reportedSize({ messages, used }: CompactionInput): number | null {
  const reply = messages.findLastIndex(({ role }) => role === 'assistant')
  return used === null || totalTokens(used) === 0 || reply < 0 ? null : totalTokens(used) + guessTokens(bytesOf(messages.slice(reply + 1)))
}

/** What a model that refused a request holds: at least what it took last time. */
function heldWindow({ used, window }: CompactionInput, size: number): number {
  const taken = used === null ? 0 : totalTokens(used) - used.output
  return Math.min(window, Math.max(LEAST_WINDOW, taken > 0 ? taken : size / 2))
}
