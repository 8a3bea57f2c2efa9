import type { JsonObject } from '../core/json.ts'
import type { SweepSummary } from './summary.ts'

/** What the reduce agent is given of the results: characters in all, and of one result at least. About 60,000 tokens. */
export const REDUCE_LIMITS = { totalChars: 240_000, leastCharsPerResult: 500 } as const

/**
 * The prompt of the last agent (CMD-12): what it is asked, then the results, one JSON line each, in the order of the items. Too many or
 * too long ones are cut, and the prompt says so.
 */
export async function reducePrompt(prompt: string, lines: AsyncIterable<JsonObject>, summary: SweepSummary): Promise<string> {
  const share = Math.floor(REDUCE_LIMITS.totalChars / Math.max(1, summary.total))
  const perResult = Math.max(REDUCE_LIMITS.leastCharsPerResult, share)
  const shown: string[] = []
  let chars = 0
  let seen = 0
  for await (const line of lines) {
    seen += 1
    if (chars >= REDUCE_LIMITS.totalChars) continue
    const text = shorten(JSON.stringify(essence(line)), perResult)
    chars += text.length
    shown.push(text)
  }
  const left = seen - shown.length
  return [
    prompt,
    `Results of ${summary.total} items (${summary.completed} completed, ${summary.failed} failed), one JSON object per line:`,
    shown.join('\n') + (left > 0 ? `\n[${left} more results left out: too long for one prompt]` : ''),
  ].join('\n\n')
}

/** What matters of a line to a reader: no ids, costs or times, which would also make equal sweeps give unequal prompts. */
function essence(line: JsonObject): JsonObject {
  const what = Array.isArray(line['items']) ? { items: line['items'] } : { item: line['item'] }
  if (line['status'] === 'completed') return { ...what, ...('value' in line ? { value: line['value'] } : { output: line['output'] }) }
  return { ...what, status: line['status'], cause: line['cause'], error: line['error'] }
}

const shorten = (text: string, limit: number) =>
  text.length <= limit ? text : `${text.slice(0, limit)}[… ${text.length - limit} characters left out]`
