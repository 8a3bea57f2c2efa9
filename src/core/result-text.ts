import { totalTokens } from './contract.ts'
import type { AgentResult } from './result.ts'
import { describeEnding } from './status.ts'
import type { Ending } from './status.ts'
import { wholeCharacters } from './title.ts'

/** AGT-08: a long result keeps this much of its start and its end, in characters. */
const RESULT_PAGE = { head: 16_000, tail: 6_000 }

/** KIN-10: the output of an agent that was ended before its first word. */
export const NOTHING_YET = 'It had not done anything yet.'

/** The block a parent model reads for an ended sub-agent (AGT-05), its output cut to `limit` characters (AGT-08). */
export function resultText(result: AgentResult, limit: number): string {
  const seconds = (result.durationMs / 1000).toFixed(1)
  return [
    `Agent id: ${result.agentId}`,
    `Sub-agent: ${result.title} (${result.agentType}, ${result.model})`,
    `Status: ${describeEnding(result as Ending)}`,
    `Turns: ${result.turns}  Tool calls: ${result.toolCalls}  Tokens: ${totalTokens(result.usage)}  Cost: $${result.costUsd.toFixed(4)}  Time: ${seconds} s`,
    ...(result.error === null ? [] : [`Reason: ${result.error}`]),
    ...(result.note === '' ? [] : result.note.split('\n').map((line) => `Note: ${line}`)),
    'Output:',
    cutOutput(result.output, result.agentId, limit),
  ].join('\n')
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
