import type { Diagnostic } from '../../core/diagnostic.ts'
import { isReadOnly } from '../../core/grant.ts'
import { deferredFields } from '../../definitions/deferred-fields.ts'
import type { Explanation } from '../../api.ts'
import { userFolder } from '../../settings/user-folder.ts'
import type { CliContext } from '../context.ts'
import { settingsDiagnosticsTo } from '../diagnostics.ts'
import type { Field } from '../fields.ts'
import { renderFields } from '../fields.ts'
import { count, counted, duration } from '../../sweep/figures.ts'
import { tokensOf } from '../figures.ts'
import { shortPath } from '../short-path.ts'
import { styleOf } from '../style.ts'
import type { Style } from '../style.ts'
import { renderTable } from '../table.ts'
import { writeJson } from '../write-all.ts'
import { findType, HASH_CHARACTERS } from './show.ts'
import { unavailableTools } from './unavailable-tools.ts'

const MS_PER_SECOND = 1_000

/** `cadre agents explain <name>`: what a type would get here, started by a run nobody delegated (CMD-07, GRA-12). */
export async function explain(context: CliContext, name: string, { json }: { readonly json: boolean }): Promise<void> {
  const diagnostics: Diagnostic[] = []
  const tell = settingsDiagnosticsTo(context)
  const orchestrator = await context.open({
    watch: false,
    onDiagnostic(diagnostic) {
      diagnostics.push(diagnostic)
      tell(diagnostic)
    },
  })
  const type = findType(orchestrator.types, name)
  const explanation = orchestrator.explain(type.name)
  const about = diagnostics.filter(({ path }) => path === type.path)
  if (json) writeJson(context.stdout, asJson(explanation, about))
  else context.stdout.write(render(explanation, about, context))
}

function render(explanation: Explanation, diagnostics: readonly Diagnostic[], context: CliContext): string {
  const { type, narrowed, model, modelNotes } = explanation
  const { grant } = narrowed
  const style = styleOf(context.stdout, context.env)
  const { bytes, systemBytes, toolBytes } = sizeOf(explanation)
  const delegates = grant.tools.some((tool) => tool.name === 'agent')
  const facts: readonly Field[] = [
    ['file', type.path === null ? '--agents' : shortPath(type.path, { cwd: context.cwd, ...userFolder(context.env) })],
    ['version', type.hash.slice(0, HASH_CHARACTERS)],
    ['model', model === null ? 'none' : model === type.model || type.program ? model : `${model} (${type.model ?? 'inherit'})`],
    ...modelNotes.map((note): Field => ['', note]),
    ['rights', isReadOnly(grant) ? 'read-only' : 'may change things'],
    ['mode', narrowed.explore ? 'explore' : type.mode],
    ['permissions', grant.mode],
    ['root', grant.root],
    ['limits', `${counted(grant.limits.maxTurns, 'turn')}, ${duration(grant.limits.timeout * MS_PER_SECOND)}`],
    ['delegates', delegates ? `${counted(grant.depth, 'level')} below it` : 'no'],
    ['per start', type.program ? 'no prompt: it is a program'
      : `about ${count(tokensOf(bytes))} tokens, ${count(bytes)} bytes (prompt ${count(systemBytes)}, tool schemas ${count(toolBytes)})`],
    ...narrowed.notes.map((note): Field => ['note', note]),
  ]
  const sections = [
    `${style.paint.bold(type.name)}\n${renderFields(facts, style)}`,
    tools(explanation, style),
    parts(explanation, style),
    fields(explanation, diagnostics, style),
  ]
  return sections.filter((section) => section !== '').join('\n')
}

function tools({ type, narrowed }: Explanation, style: Style): string {
  const { green, red, yellow, dim } = style.paint
  const held = narrowed.grant.tools.map(({ name, effect, only }) => [
    { text: '✓', paint: green },
    name,
    { text: [effect, ...only.map((layer) => `only ${layer.join(' or ')}`)].join(', '), paint: dim },
  ])
  const removed = narrowed.removed.map(({ tool, layer }) => [{ text: '✗', paint: red }, tool, `removed by ${layer}`])
  const unknown = narrowed.unknown.map(({ written, nearest }) => [
    { text: '?', paint: yellow },
    written,
    `no such tool here${nearest === undefined ? '' : `, did you mean ${nearest}?`}`,
  ])
  const absent = unavailableTools(type, narrowed).map((written) => [{ text: '–', paint: dim }, written, 'no run of this version has it'])
  const columns = [{ title: '' }, { title: 'TOOL', cut: 'end' }, { title: 'WHY', cut: 'end' }] as const
  return renderTable(columns, [...held, ...removed, ...absent, ...unknown], style)
}

const sizeOf = ({ systemParts, toolBytes }: Explanation) => {
  const systemBytes = systemParts.reduce((sum, { bytes }) => sum + bytes, 0)
  return { bytes: systemBytes + toolBytes, systemBytes, toolBytes }
}

/** What each part of the first request costs every start of the type. */
function parts({ type, systemParts, toolBytes }: Explanation, style: Style): string {
  if (type.program) return ''
  const columns = [{ title: 'PART' }, { title: 'BYTES', align: 'right' }] as const
  return renderTable(columns, [...systemParts, { part: 'tool schemas', bytes: toolBytes }].map(({ part, bytes }) => [part, count(bytes)]), style)
}

/** What was dropped or ignored on loading, and what has no effect yet. */
function fields({ type }: Explanation, diagnostics: readonly Diagnostic[], style: Style): string {
  const dropped = diagnostics.map(({ line, severity, message, remedy }): Field =>
    [`line ${line}`, `${severity}: ${message}${remedy ? `; ${remedy}` : ''}`])
  const later = deferredFields(type).map(({ field, note }): Field => [field, note])
  return [
    dropped.length > 0 ? `${style.paint.dim('FINDINGS')}\n${renderFields(dropped, style)}` : '',
    later.length > 0 ? `${style.paint.dim('NO EFFECT YET')}\n${renderFields(later, style)}` : '',
  ].filter((section) => section !== '').join('\n')
}

function asJson(explanation: Explanation, diagnostics: readonly Diagnostic[]) {
  const { type, narrowed, model, modelNotes, systemParts } = explanation
  const { bytes, systemBytes, toolBytes } = sizeOf(explanation)
  return {
    name: type.name,
    path: type.path,
    hash: type.hash,
    model,
    modelNotes,
    readOnly: isReadOnly(narrowed.grant),
    explore: narrowed.explore,
    grant: narrowed.grant,
    removed: narrowed.removed,
    unavailable: unavailableTools(type, narrowed),
    unknown: narrowed.unknown,
    notes: narrowed.notes,
    prompt: { tokens: tokensOf(bytes), bytes, systemBytes, toolBytes, systemParts },
    findings: diagnostics,
    deferred: deferredFields(type),
  }
}
