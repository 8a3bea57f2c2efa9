import type { Diagnostic } from '../core/diagnostic.ts'
import type { AgentFields, FieldName } from './agent-fields.ts'
import { agentFields, FIELD_MUST_BE, fits } from './agent-fields.ts'
import { fieldOf, nearestField } from './field-names.ts'
import { plainJson } from './plain-json.ts'
import type { RawField, Report } from './raw-field.ts'
import { PROSE_FIELDS } from './raw-field.ts'

/** Why a field counts for nothing where the file stands, as a finding; undefined when it counts. */
export type Ignored = (field: FieldName, value: unknown) => Pick<Diagnostic, 'severity' | 'message' | 'remedy'> | undefined

export type ReadFields = { readonly fields: AgentFields; lineOf(field: FieldName): number }

/**
 * Checks raw fields against the schema (TYP-08…12). What does not fit is left out with a diagnostic; nothing here stops a file.
 * `firstLine` is the line of the file that the raw lines count from; what `ignored` names is left out with its finding.
 */
export function readFields(raw: readonly RawField[], firstLine: number, report: Report, ignored: Ignored): ReadFields {
  const lines = new Map<FieldName, number>()
  const accepted: Record<string, unknown> = {}
  for (const entry of raw.flatMap(unfoldExperimental)) {
    const line = firstLine + entry.line
    const field = fieldOf(entry.key)
    if (!field) reportUnknown(entry.key, line, report)
    else if (lines.has(field)) report('warning', line, `field "${entry.key}" is given twice`, 'the first one counts; remove the other')
    else {
      lines.set(field, line)
      if (isBlank(entry.value)) reportBlank(field, line, report)
      else if (!reportIgnored(ignored(field, entry.value), line, report)) take(accepted, field, entry, line, report)
    }
  }
  return { fields: agentFields.parse(accepted), lineOf: (field) => lines.get(field) ?? firstLine }
}

/** `experimental: {cacheTtl: 5m}` is the field `experimental.cacheTtl`. */
function unfoldExperimental(entry: RawField): readonly RawField[] {
  if (entry.key !== 'experimental') return [entry]
  const value = plainJson(entry.value)
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return [entry]
  return Object.entries(value).map(([key, inner]) => ({ ...entry, key: `experimental.${key}`, value: inner, text: null, span: null }))
}

function take(accepted: Record<string, unknown>, field: FieldName, entry: RawField, line: number, report: Report): void {
  const value = asText(field, entry, line, report)
  if (fits(field, value)) accepted[field] = value
  else report('warning', line, `field "${entry.key}" must be ${FIELD_MUST_BE[field]}`, 'ignored')
  if (entry.cut && PROSE_FIELDS.has(field)) {
    report('note', line, `YAML takes the end of "${entry.key}", after " #", for a comment`, 'quote the value to keep it')
  }
}

/** Fields a person writes prose or a name into: a number or boolean there is what they wrote (TYP-08). */
const FREE_TEXT: ReadonlySet<FieldName> = new Set(['name', 'description', 'initialPrompt', 'model'])

function asText(field: FieldName, { key, value, text }: RawField, line: number, report: Report): unknown {
  const plain = plainJson(value)
  if (!FREE_TEXT.has(field) || (typeof value !== 'number' && typeof value !== 'boolean')) return plain
  if (field === 'name' || field === 'description') {
    report('note', line, `field "${key}" is a bare ${typeof value}, taken as text`, 'quote it')
  }
  return text ?? String(value)
}

function reportIgnored(why: ReturnType<Ignored>, line: number, report: Report): boolean {
  if (why) report(why.severity, line, why.message, why.remedy)
  return why !== undefined
}

const isBlank = (value: unknown): boolean => value === null || (typeof value === 'string' && value.trim() === '')

function reportBlank(field: FieldName, line: number, report: Report): void {
  if (field !== 'tools') return
  report('note', line, 'field "tools" is empty, which is the same as leaving it out', 'write "*" for all tools, or [] for none')
}

function reportUnknown(key: string, line: number, report: Report): void {
  const near = nearestField(key)
  const shown = key.length > 60 ? `${key.slice(0, 60)}…` : key
  if (near === undefined) report('warning', line, `unknown field "${shown}"`, 'dropped; remove it')
  else report('warning', line, `unknown field "${shown}", did you mean "${near}"?`, 'dropped; rename or remove it')
}
