import type { AgentType } from '../../core/agent-type.ts'
import type { Diagnostic } from '../../core/diagnostic.ts'
import { CadreError } from '../../core/errors.ts'
import { nearest } from '../../core/nearest.ts'
import type { TypeRegistry } from '../../definitions/registry.ts'
import { userFolder } from '../../settings/user-folder.ts'
import { printable } from '../terminal-text.ts'
import type { CliContext } from '../context.ts'
import type { Field } from '../fields.ts'
import { renderFields } from '../fields.ts'
import { diagnosticsTo, isAboutAgentFile } from '../diagnostics.ts'
import { shortPath } from '../short-path.ts'
import { styleOf } from '../style.ts'
import { withoutControls } from '../without-controls.ts'
import { writeJson } from '../write-all.ts'

/** `cadre agents show <name>`: one type as it was loaded, also one that only Cadre starts. */
export async function show(context: CliContext, name: string, { json }: { readonly json: boolean }): Promise<void> {
  const diagnostics: Diagnostic[] = []
  const { types } = await context.open({ watch: false, onDiagnostic: (diagnostic) => void diagnostics.push(diagnostic) })
  const type = findType(types, name)
  diagnostics.filter((diagnostic) => !isAboutAgentFile(diagnostic) || diagnostic.path === type.path).forEach(diagnosticsTo(context))
  if (json) {
    writeJson(context.stdout, type)
    return
  }
  const style = styleOf(context.stdout, context.env)
  const path = type.path === null ? '--agents' : shortPath(type.path, { cwd: context.cwd, ...userFolder(context.env) })
  const title = style.paint.bold(printable(type.name))
  context.stdout.write(`${title}\n${renderFields(fieldsOf(type, path), style)}\n${withoutControls(type.prompt).trim()}\n`)
}

/** What every type has, then whatever else its author wrote. */
function fieldsOf(type: AgentType, path: string): readonly Field[] {
  const { name: _name, prompt: _prompt, path: _path, description, program, hash, scope, trusted, ...fields } = type
  const { tools, disallowedTools, model, mode, readOnly, ...others } = fields
  return [
    ['description', description],
    ['file', path],
    ['scope', trusted ? scope : `${scope}, not trusted`],
    ['version', hash.slice(0, HASH_CHARACTERS)],
    ['model', program ? 'script: it runs a program, no language model' : (model ?? 'inherit')],
    ['mode', readOnly ? `${mode}, read-only for good` : mode],
    ['tools', tools === null ? 'all of its parent\'s' : tools.join(', ') || 'none'],
    ['without', disallowedTools.join(', ') || null],
    ...Object.entries(others).map(([field, value]): Field => [field, typeof value === 'string' ? value : JSON.stringify(value)]),
  ]
}

/** Enough of a content hash to tell versions apart. */
export const HASH_CHARACTERS = 12

/** The type a person named; throws UNKNOWN_TYPE with all names and the nearest one. */
export function findType(types: TypeRegistry, name: string): AgentType {
  const type = types.find(name)
  if (type) return type
  const names = types.list().types.map((listed) => listed.type.name).toSorted()
  const near = nearest(name, names)
  const hint = near === undefined ? '' : ` Did you mean ${near}?`
  throw new CadreError('UNKNOWN_TYPE', `Unknown sub-agent type "${name}". Available: ${names.join(', ')}.${hint}`)
}
