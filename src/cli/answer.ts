import { isObject } from '../core/json.ts'
import type { AgentResult } from '../core/result.ts'
import { NOTHING_YET } from '../core/result-text.ts'
import { compareFindings, findingsOf, placeOf } from '../sweep/findings.ts'
import { withoutControls } from './without-controls.ts'

/**
 * What `--output-format text` prints of a result: the answer as it is; of a program's structured value its findings, one `file:line: message` a
 * line, and its summary, or the value as JSON a person can read. Empty when nothing was done yet: the reason goes to stderr.
 */
export function answerText(result: AgentResult): string {
  const text = result.model === 'script' && result.value !== null ? valueText(result) : result.output
  return text === '' || text === NOTHING_YET || text.endsWith('\n') ? text.replace(NOTHING_YET, '') : `${text}\n`
}

function valueText({ value, output, agentType }: AgentResult): string {
  if (typeof value !== 'object' || value === null) return output
  const summary = isObject(value) && typeof value['summary'] === 'string' ? value['summary'] : null
  const findings = findingsOf(value, agentType).toSorted(compareFindings)
  if (findings.length === 0) return summary ?? JSON.stringify(value, null, 2)
  const lines = findings.map((finding) => withoutControls(`${placeOf(finding)}: ${finding.message}`))
  return [...lines, ...(summary === null ? [] : ['', withoutControls(summary)])].join('\n')
}
