import { isObject, type Json } from '../core/json.ts'
import { compareFindings, findingsOf, type Finding } from './findings.ts'
import { createFirstFew } from './first-few.ts'
import { endingOf, reasonOf, sharedReason, type Outcome } from './outcome.ts'
import type { Answer, Failure, SweepSummary } from './summary.ts'

/** What a summary holds at most, whatever the number of items: this is what keeps a sweep's memory flat. */
export const SUMMARY_LIMITS = {
  findings: 5_000,
  failures: 1_000,
  answers: 1_000,
  groups: 50,
  kinds: 200,
  /** Items named per group. */
  examples: 3,
  textChars: 500,
} as const

/** The counts and first few of a sweep so far. */
export type Tally = Pick<SweepSummary, 'completed' | 'cached' | 'failed' | 'runs' | 'costUsd' | 'findings' | 'failures' | 'answers'>

/** The part that is cheap to ask for after every item. */
export type Counts = Pick<Tally, 'completed' | 'cached' | 'failed' | 'runs' | 'costUsd'>

const MORE = { kind: 'other kinds', ending: 'other failures', reason: 'more reasons than fit here' } as const

/** Counts outcomes. `add` answers the number of findings in the outcome. */
export function createTally(agent: string): { add(outcome: Outcome): number; counts(): Counts; now(): Tally } {
  let [completed, cached, failed, runs, costUsd, findings, answers] = [0, 0, 0, 0, 0, 0, 0]
  const kinds = new Map<string, number>()
  const groups = new Map<string, { ending: string; reason: string; items: number; examples: string[] }>()
  const firstFindings = createFirstFew<Finding>(SUMMARY_LIMITS.findings, compareFindings)
  const firstFailures = createFirstFew<Failure>(SUMMARY_LIMITS.failures, (a, b) => a.index - b.index)
  const firstAnswers = createFirstFew<Answer>(SUMMARY_LIMITS.answers, (a, b) => a.index - b.index)

  const addFailure = (outcome: Outcome) => {
    const { index, items, result } = outcome
    const [ending, reason] = [endingOf(result), clip(reasonOf(result))]
    firstFailures.add({ index, items, ending, reason, agentId: result.agentId })
    const key = `${ending} ${sharedReason(outcome)}`
    const fits = groups.has(key) || groups.size < SUMMARY_LIMITS.groups
    const group = groups.get(fits ? key : '') ?? { ...(fits ? { ending, reason } : MORE), items: 0, examples: [] }
    group.items += items.length
    group.examples.push(...items.slice(0, SUMMARY_LIMITS.examples - group.examples.length))
    groups.set(fits ? key : '', group)
  }

  const addFinding = (finding: Finding) => {
    const kind = kinds.has(finding.kind) || kinds.size < SUMMARY_LIMITS.kinds ? finding.kind : MORE.kind
    kinds.set(kind, (kinds.get(kind) ?? 0) + 1)
    firstFindings.add({ ...finding, message: clip(finding.message) })
  }

  return {
    add(outcome) {
      const { index, items, result } = outcome
      if (outcome.cached) cached += items.length
      else {
        runs += 1
        costUsd += result.costUsd
      }
      if (!result.success) {
        failed += items.length
        addFailure(outcome)
        return 0
      }
      completed += items.length
      const found = findingsOf(result.value, agent)
      findings += found.length
      for (const finding of found) addFinding(finding)
      const text = found.length > 0 ? '' : answerOf(outcome)
      if (text) {
        answers += 1
        firstAnswers.add({ index, items, text })
      }
      return found.length
    },
    counts: () => ({ completed, cached, failed, runs, costUsd }),
    now: () => ({
      completed, cached, failed, runs, costUsd,
      findings: {
        total: findings,
        kinds: [...kinds].map(([kind, count]) => ({ kind, count })).toSorted((a, b) => b.count - a.count || (a.kind < b.kind ? -1 : 1)),
        first: firstFindings.list(),
      },
      failures: {
        groups: [...groups.values()].toSorted((a, b) => b.items - a.items || (a.ending < b.ending ? -1 : 1)),
        first: firstFailures.list(),
      },
      answers: { total: answers, first: firstAnswers.list() },
    }),
  }
}

/** A text as it is, a value as JSON; nothing for a value that only says there are no findings. */
function answerOf({ result }: Outcome): string {
  if (result.value === null) return clip(result.output.trim())
  return saysNothing(result.value) ? '' : clip(typeof result.value === 'string' ? result.value : JSON.stringify(result.value))
}

/** `[]`, `{}`, and what has an empty list of findings, whatever it counted on the way. */
function saysNothing(value: Json | undefined): boolean {
  if (Array.isArray(value)) return value.every((inner: Json) => saysNothing(inner))
  if (!isObject(value)) return false
  const { findings } = value
  return Array.isArray(findings) ? findings.length === 0 : Object.values(value).every(saysNothing)
}

const clip = (text: string) => (text.length > SUMMARY_LIMITS.textChars ? `${text.slice(0, SUMMARY_LIMITS.textChars - 1)}…` : text)
