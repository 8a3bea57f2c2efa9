import type { RawField, YamlReading } from './raw-field.ts'
import { PROSE_FIELDS } from './raw-field.ts'

type OddField = Extract<YamlReading, { ok: true }>['odd']

/**
 * The first field that must be prose: right below a prose field, of a name no field has; or a map where prose belongs, which
 * `blockMaps` tells by index.
 */
export function oddField(fields: readonly RawField[], blockMaps: readonly boolean[]): OddField {
  for (const [i, { key, line }] of fields.entries()) {
    if (PROSE_FIELDS.has(fields[i - 1]?.key ?? '') && /\s/.test(key)) return { line, text: key }
    if (PROSE_FIELDS.has(key) && blockMaps[i]) return { line, text: `${key}: …` }
  }
  return null
}
