import { totalTokens } from './contract.ts'
import { withoutNotices } from './notice.ts'
import type { AgentResult } from './result.ts'
import { describeEnding } from './status.ts'
import type { Ending } from './status.ts'
import { titleOf, wholeCharacters } from './title.ts'

/** AGT-08: a long result keeps this much of its start and its end, in characters. */
const RESULT_PAGE = { head: 16_000, tail: 6_000 }

/** KIN-10: the output of an agent that was ended before its first word. */
export const NOTHING_YET = 'It had not done anything yet.'

/** The block a parent model reads for an ended sub-agent (AGT-05), its output cut to `limit` characters (AGT-08), with no notice in it (DEL-02). */
export function resultText(result: AgentResult, limit: number): string {
  const seconds = (result.durationMs / 1000).toFixed(1)
  return withoutNotices([
    `Agent id: ${result.agentId}${result.continuedFrom === null ? '' : ` (continued from ${result.continuedFrom})`}`,
    `Sub-agent: ${result.title} (${result.agentType}, ${oneLine(result.model)})`,
    `Status: ${describeEnding(result as Ending)}`,
    `Turns: ${result.turns}  Tool calls: ${result.toolCalls}  Tokens: ${totalTokens(result.usage)}  Cost: $${result.costUsd.toFixed(4)}  Time: ${seconds} s`,
    ...(result.error === null ? [] : [`Reason: ${oneLine(result.error)}`]),
    ...(result.note === '' ? [] : result.note.split('\n').map((line) => `Note: ${line}`)),
    ...undeliveredLines(result.undelivered),
    'Output:',
    cutOutput(result.output, result.agentId, limit),
  ].join('\n'))
}

/** What a provider or a program wrote can begin no line of the block. */
const oneLine = (text: string): string => text.replaceAll(/\s*[\r\n\u2028\u2029]\s*/g, ' ')

/** STR-03. */
const undeliveredLines = (messages: readonly string[]): readonly string[] => messages.length === 0 ? []
  : [`${messages.length} message(s) you sent were not delivered, it finished first:`, ...messages.map((text) => `- ${titleOf(text)}`)]

/** One page of an ended agent's output (AGT-08), from this character on. */
export function outputPage(output: string, id: string, offset: number, limit: number): string {
  const page = wholeCharacters(output.slice(offset, offset + limit))
  const end = offset + page.length
  const more = end < output.length ? `\n[… ${output.length - end} more characters: agent_check id=${id} offset=${end}]` : ''
  return withoutNotices(`Output of ${id}, characters ${offset} to ${end} of ${output.length}:\n${page}${more}`)
}

/** The first 16,000 and last 6,000 characters of an output over `limit`, never splitting a character in two. */
export function cutOutput(output: string, id: string, limit: number): string {
  if (output.length <= limit) return output
  const scale = Math.min(1, limit / (RESULT_PAGE.head + RESULT_PAGE.tail))
  const head = wholeCharacters(output.slice(0, Math.floor(RESULT_PAGE.head * scale)))
  const tail = output.slice(output.length - Math.floor(RESULT_PAGE.tail * scale)).replace(/^[\uDC00-\uDFFF]/, '')
  const left = output.length - head.length - tail.length
  return `${head}\n[… ${left} characters left out: agent_check id=${id} offset=${head.length}]\n${tail}`
}
