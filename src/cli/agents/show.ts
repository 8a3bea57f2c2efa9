import type { AgentType } from '../../core/agent-type.ts'
import { CadreError } from '../../core/errors.ts'
import { nearest } from '../../core/nearest.ts'
import type { TypeRegistry } from '../../definitions/registry.ts'
import { userFolder } from '../../settings/user-folder.ts'
import type { CliContext } from '../context.ts'
import { renderFields } from '../fields.ts'
import { diagnosticsTo } from '../diagnostics.ts'
import { shortPath } from '../short-path.ts'
import { styleOf } from '../style.ts'
import { withoutControls } from '../without-controls.ts'
import { writeJson } from '../write-all.ts'

/** `cadre agents show <name>`: one type as it was loaded, also one that only Cadre starts. */
export async function show(context: CliContext, name: string, { json }: { readonly json: boolean }): Promise<void> {
  const { types } = await context.open({ watch: false, onDiagnostic: diagnosticsTo(context) })
  const type = findType(types, name)
  if (json) {
    writeJson(context.stdout, type)
    return
  }
  const style = styleOf(context.stdout, context.env)
  const { name: title, description, prompt, program, path, hash, scope, tools, disallowedTools, model, mode, readOnly, trusted, ...others } = type
  context.stdout.write(`${style.paint.bold(title)}\n${renderFields([
    ['description', description],
    ['file', path === null ? '--agents' : shortPath(path, { cwd: context.cwd, ...userFolder(context.env) })],
    ['scope', trusted ? scope : `${scope}, not trusted`],
    ['version', hash],
    ['model', program ? 'script: runs a program, no language model' : (model ?? 'inherit')],
    ['mode', readOnly ? `${mode}, read-only for good` : mode],
    ['tools', tools === null ? 'all of its parent\'s' : tools.join(', ') || 'none'],
    ['not', disallowedTools.join(', ') || null],
    ...Object.entries(others).map(([field, value]) => [field, typeof value === 'string' ? value : JSON.stringify(value)] as const),
  ], style)}\n${withoutControls(prompt).trim()}\n`)
}

/** The type a person named; throws UNKNOWN_TYPE with all names and the nearest one. */
export function findType(types: TypeRegistry, name: string): AgentType {
  const type = types.find(name)
  if (type) return type
  const names = types.list().types.map((listed) => listed.type.name).toSorted()
  const near = nearest(name, names)
  const hint = near === undefined ? '' : ` Did you mean ${near}?`
  throw new CadreError('UNKNOWN_TYPE', `Unknown sub-agent type "${name}". Available: ${names.join(', ')}.${hint}`)
}
