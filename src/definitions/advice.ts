import { compileFunction } from 'node:vm'
import type { AgentType } from '../core/agent-type.ts'
import type { Diagnostic } from '../core/diagnostic.ts'
import { messageOf } from '../core/errors.ts'
import { nearest } from '../core/nearest.ts'
import { isKnownTool, KNOWN_SPELLINGS, parseToolEntry } from '../core/tool-names.ts'
import { deferredFields } from './deferred-fields.ts'

/** What lint says of a type beyond what loading it says: tools nobody has, fields without effect yet, programs that do not compile. */
export function adviceOn(type: AgentType, text: string): readonly Diagnostic[] {
  const at = (field: string, severity: Diagnostic['severity'], message: string, remedy: string): Diagnostic =>
    ({ path: type.path ?? type.name, line: lineOf(field, text), severity, message, remedy })
  return [
    ...unknownTools('tools', type.tools ?? [], at),
    ...unknownTools('disallowedTools', type.disallowedTools, at),
    ...oddModel(type, at),
    ...deferredFields(type).map(({ field, note }) => at(field, 'note', note, 'it takes effect in a later version')),
    ...programProblem(type),
  ]
}

type At = (field: string, severity: Diagnostic['severity'], message: string, remedy: string) => Diagnostic

const oddModel = ({ model }: AgentType, at: At): readonly Diagnostic[] => {
  if (model === null || !/[\s()]/.test(model)) return []
  const remedy = 'it runs on the model of its parent; write an alias such as "sonnet", or a full id'
  return [at('model', 'warning', `model "${model}" is no model id`, remedy)]
}

const unknownTools = (field: string, entries: readonly string[], at: At): readonly Diagnostic[] =>
  entries.map((entry) => parseToolEntry(entry).name).filter((name) => !isKnownTool(name)).map((name) => {
    const near = nearest(name, KNOWN_SPELLINGS)
    const hint = near === undefined ? '' : `, did you mean "${near}"?`
    return at(field, 'warning', `unknown tool "${name}"${hint}`, 'it is left out unless the host has a tool of that name')
  })

/** Compiles the program, without running it, as the isolate will. */
function programProblem({ program, path, name }: AgentType): readonly Diagnostic[] {
  if (!program) return []
  try {
    compileFunction(`(async () => {\n${program.code}\n})`, [], { filename: 'program', lineOffset: program.line - 2 })
    return []
  } catch (error) {
    const found = Number(/^program:(\d+)/.exec(error instanceof Error ? (error.stack ?? '') : '')?.[1] ?? program.line)
    const line = Math.min(found, program.line + program.code.split('\n').length - 1)
    const message = `the program does not compile: ${messageOf(error)}`
    return [{ path: path ?? name, line, severity: 'error', message, remedy: 'mend it, or its runs fail' }]
  }
}

/** The line a field begins at; the first one when it is not found (written as a quoted or nested key). */
function lineOf(field: string, text: string): number {
  const line = text.split('\n').findIndex((candidate) => /^[\s"'{]*([\w.]+)["']?\s*:/.exec(candidate)?.[1] === field)
  return line === -1 ? 1 : line + 1
}
