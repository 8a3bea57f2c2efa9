import { pathToFileURL } from 'node:url'
import { isAbsolute } from 'node:path'
import type { JsonObject } from '../core/json.ts'
import { findingsOf, type Finding } from './findings.ts'

const SCHEMA = 'https://json.schemastore.org/sarif-2.1.0.json'
/** Viewers resolve relative paths against their checkout of the repository. */
const ROOT = '%SRCROOT%'
/** How every log begins: by this a sweep knows its own from one of another tool. */
export const SARIF_HEAD = `{"$schema":${JSON.stringify(SCHEMA)},"version":"2.1.0","runs":[{"columnKind":"utf16CodeUnits","results":[`

/**
 * A SARIF 2.1.0 log of all findings, in pieces, so that any number fits (CMD-12): one run of the tool `cadre`, one rule per kind. `lines`
 * are those of a results file.
 */
export async function* sarifOf(lines: AsyncIterable<JsonObject>, agent: string): AsyncIterable<string> {
  const rules = new Map<string, number>()
  yield SARIF_HEAD
  let separator = '\n'
  for await (const line of lines) {
    if (line['status'] !== 'completed') continue
    for (const finding of findingsOf(line['value'] ?? null, agent)) {
      const rule = rules.get(finding.kind) ?? rules.size
      rules.set(finding.kind, rule)
      yield separator + JSON.stringify(resultOf(finding, rule))
      separator = ',\n'
    }
  }
  const described = [...rules.keys()].map((id) => ({ id, shortDescription: { text: `${id}, found by the agent type ${agent}` } }))
  yield `\n],"tool":${JSON.stringify({ driver: { name: 'cadre', rules: described } })}}]}\n`
}

const resultOf = ({ file, line, column, kind, level, message }: Finding, ruleIndex: number): JsonObject => ({
  ruleId: kind,
  ruleIndex,
  level,
  message: { text: message },
  locations: [
    {
      physicalLocation: {
        artifactLocation: locationOf(file),
        ...(line === null ? {} : { region: { startLine: line, ...(column === null ? {} : { startColumn: column }) } }),
      },
    },
  ],
})

function locationOf(file: string): JsonObject {
  if (isAbsolute(file)) return { uri: pathToFileURL(file).href }
  return { uri: file.toWellFormed().replaceAll('\\', '/').split('/').map(encodeURIComponent).join('/'), uriBaseId: ROOT }
}
