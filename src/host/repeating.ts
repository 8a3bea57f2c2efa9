import type { Host, ToolCall } from '../core/contract.ts'
import { stableJson } from '../core/json.ts'

/** KIN-14. */
const REPEATS = 3

/** A host that notices when the same tool with equal input gave an equal outcome three times in a row, and says so once. */
export function repeating(host: Host, onRepeat: (tool: string) => void): Host {
  let calls: readonly ToolCall[] = []
  let last: { readonly call: ToolCall; readonly text: string } | null = null
  let times = 0
  let told = false
  return {
    ...host,
    async next(outcomes) {
      for (const call of calls) {
        const outcome = outcomes.find(({ callId }) => callId === call.id)
        if (!outcome || told) continue
        const same = last?.call.name === call.name && last.text === outcome.text && stableJson(last.call.input) === stableJson(call.input)
        times = same ? times + 1 : 1
        last = { call, text: outcome.text }
        if (times < REPEATS) continue
        told = true
        onRepeat(call.name)
      }
      const reply = await host.next(outcomes)
      calls = reply.calls
      return reply
    },
  }
}
