import type { AgentResult } from '../core/result.ts'
import { describeEnding, type Ending } from '../core/status.ts'

/** One run of a sweep that came to an end of its own. `index` counts runs in the order of their items. */
export type Outcome = { readonly index: number; readonly items: readonly string[]; readonly result: AgentResult; readonly cached: boolean }

/** `failed (model)`. */
export const endingOf = ({ status, cause }: AgentResult): string => describeEnding({ status, cause } as Ending)

export const reasonOf = (result: AgentResult): string => result.error ?? (result.output.trim() || 'It gave no reason.')

/** A failure's reason without what differs from run to run (its items, its agent id): equal for failures with one cause. */
export function sharedReason({ items, result }: Outcome): string {
  const own = [...items, result.agentId].filter((text) => text.length > 1)
  return own.reduce((reason, text) => reason.replaceAll(text, '…'), reasonOf(result))
}
