import type { AgentType } from '../core/agent-type.ts'
import type { Diagnostic } from '../core/diagnostic.ts'
import { isObject, stableJson } from '../core/json.ts'
import { buildType } from './build-type.ts'
import { plainJson } from './plain-json.ts'
import type { RawField, Report } from './raw-field.ts'
import { collect } from './raw-field.ts'

export type TypesInCode = { readonly types: readonly AgentType[]; readonly diagnostics: readonly Diagnostic[] }

/**
 * Types given in code or as `--agents` JSON (TYP-18): `{<name>: {description, prompt, …}}`, the fields of an agent file, `prompt` its
 * body. `source` stands for a path in diagnostics. A bad definition is left out and stops no other.
 */
export function typesFromCode(agents: unknown, source: string): TypesInCode {
  const diagnostics: Diagnostic[] = []
  const report = collect(source, diagnostics)
  if (agents === undefined || agents === null) return { types: [], diagnostics }
  if (!isObject(agents)) {
    report('error', 1, 'agents must be a map of names to definitions', 'write {"<name>": {"description": "…", "prompt": "…"}}')
    return { types: [], diagnostics }
  }
  const types = Object.entries(agents).flatMap(([name, definition]) => typeOf(name, definition, source, report) ?? [])
  return { types, diagnostics }
}

function typeOf(name: string, definition: unknown, source: string, report: Report): AgentType | null {
  const about: Report = (severity, line, message, remedy) => report(severity, line, `agent "${name}": ${message}`, remedy)
  const plain = isObject(definition) ? plainJson(definition) : undefined
  if (!isObject(plain)) {
    about('error', 1, 'the definition must be a map of plain data', 'write {"description": "…", "prompt": "…"}')
    return null
  }
  const { prompt, name: inner, ...fields } = plain
  if (inner !== undefined && inner !== name) about('note', 1, `its "name" ${JSON.stringify(inner)} is ignored`, 'the key is its name')
  if (prompt !== undefined && typeof prompt !== 'string') about('warning', 1, 'field "prompt" must be text', 'ignored')
  const body = typeof prompt === 'string' ? prompt.replaceAll('\r\n', '\n') : ''
  const raw = [field('name', name), ...Object.entries(fields).map(([key, value]) => field(key, value))]
  const at = { path: source, scope: 'code', trusted: true, root: source } as const
  return buildType({ raw, firstLine: 1, body, bodyLine: 1, source: stableJson({ ...plain, name }) }, at, about)
}

const field = (key: string, value: unknown): RawField => ({ key, line: 0, value, text: null, cut: false, span: null })
