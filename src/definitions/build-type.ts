import { hash } from 'node:crypto'
import type { AgentType } from '../core/agent-type.ts'
import { parseToolEntry, toolsNamed } from '../core/tool-names.ts'
import type { AgentFields } from './agent-fields.ts'
import { firstProgram } from './first-program.ts'
import { isIgnored } from './ignored-fields.ts'
import type { Place } from './place.ts'
import type { RawField, Report } from './raw-field.ts'
import type { ReadFields } from './read-fields.ts'
import { readFields } from './read-fields.ts'
import { judgeName, proposeName } from './type-name.ts'

/** A definition cut into its parts. Lines are lines of the file, from 1; `source` is all of it, for the version's hash. */
export type Definition = {
  readonly raw: readonly RawField[]
  readonly firstLine: number
  readonly body: string
  readonly bodyLine: number
  readonly source: string
}

/** Makes the frozen type of a definition (TYP-06…14, SCO-05, SCO-06), or null when it cannot be one: then the last finding says why. */
export function buildType({ raw, firstLine, body, bodyLine, source }: Definition, at: Place, report: Report): AgentType | null {
  const read = readFields(raw, firstLine, report, (field, value) => isIgnored(field, value, at))
  const { name: written, description, tools, disallowedTools, model, mode, readOnly, ...rest } = read.fields
  const name = written?.normalize('NFC')
  if (name === undefined || description === undefined) return reportMissing(read.fields, firstLine, report)
  if (!checkName(name, read, report)) return null
  const program = model === 'script' ? firstProgram(body, bodyLine) : null
  if (model === 'script' && program === null) {
    const message = '`model: script` needs a ```js block in the body, and there is none'
    report('error', read.lineOf('model'), message, 'add the program, or choose a language model')
    return null
  }
  const prompt = body.replace(/^(?:[ \t]*\n)+/, '').trimEnd()
  if (prompt === '') {
    report('note', bodyLine, 'the body is empty, so the agent has no role prompt', 'describe its role below the frontmatter')
  }
  return Object.freeze({
    ...rest,
    name: at.plugin === undefined ? name : `${at.plugin}:${name}`,
    description,
    prompt,
    hash: hash('sha256', source),
    scope: at.scope,
    path: at.scope === 'code' ? null : at.path,
    trusted: at.trusted,
    tools: tools ?? null,
    disallowedTools: disallowedTools ?? [],
    model: model ?? null,
    mode: mode ?? modeOf(tools),
    readOnly: readOnly ?? false,
    program,
  })
}

function reportMissing({ name }: AgentFields, firstLine: number, report: Report): null {
  const field = name === undefined ? 'name' : 'description'
  const remedy = field === 'name' ? 'add one: the file name is no name' : 'say when to use it'
  report('warning', firstLine, `field "${field}" is missing, so this is no agent type`, remedy)
  return null
}

/** TYP-07. */
function checkName(name: string, read: ReadFields, report: Report): boolean {
  const verdict = judgeName(name)
  const line = read.lineOf('name')
  if (verdict === 'refused') {
    const shown = name.length > 60 ? `${name.slice(0, 60)}…` : name
    report('error', line, `name ${JSON.stringify(shown)} cannot be used`, `use letters, digits and "-", for example "${proposeName(name)}"`)
  }
  const proposed = proposeName(name)
  if (verdict === 'accepted') {
    const remedy = judgeName(proposed) === 'canonical' ? `"${proposed}" would be plain` : 'other tools may not read it'
    report('note', line, `name "${name}" is accepted, but has more than a-z, 0-9 and "-"`, remedy)
  }
  return verdict !== 'refused'
}

/** TYP-13. */
const modeOf = (tools: readonly string[] | undefined): 'explore' | 'build' =>
  tools?.some((entry) => toolsNamed(parseToolEntry(entry).name, []).some((tool) => CHANGING.includes(tool))) ? 'build' : 'explore'

const CHANGING: readonly string[] = ['write', 'edit', 'bash']
