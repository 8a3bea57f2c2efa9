import { fits, knownValues } from './agent-fields.ts'
import { fieldOf, respelled } from './field-names.ts'
import { frontmatterBounds } from './frontmatter-bounds.ts'
import type { LineField } from './line-reader.ts'
import { readLines } from './line-reader.ts'
import { readYaml, splitFile } from './parse.ts'
import type { RawField, YamlReading } from './raw-field.ts'

/**
 * Repairs the spelling of an agent file and nothing else (CMD-07): values that are not valid YAML are quoted as the line reader understood
 * them, bare numbers and booleans as names are quoted, field names and fixed values get their case. The body stays byte for byte, and a
 * file that is no agent file comes back as it is. Fixing twice changes nothing.
 */
export function fixText(text: string): string {
  const bounds = frontmatterBounds(text)
  const file = bounds.kind === 'found' ? splitFile(bounds.normal) : null
  if (bounds.kind !== 'found' || !file) return text
  const fixed = respell(quoteLines(file.frontmatter))
  if (fixed === file.frontmatter) return text
  const eol = /\r\n/.test(text.slice(0, bounds.end)) ? '\r\n' : '\n'
  return text.slice(0, bounds.start) + fixed.replaceAll('\n', eol) + text.slice(bounds.end)
}

/**
 * Makes a frontmatter that the line reader had to read into YAML that says the same. Where the result would say anything else, or would
 * be written anew a second time, the text is too odd to touch and stays as it is.
 */
function quoteLines(frontmatter: string): string {
  if (isSound(readYaml(frontmatter))) return frontmatter
  const quoted = quoteFields(frontmatter)
  const settled = isSound(readYaml(quoted)) || quoteFields(quoted) === quoted
  return settled && meaning(quoted) === meaning(frontmatter) ? quoted : frontmatter
}

const isSound = (reading: YamlReading): reading is Extract<YamlReading, { ok: true }> => reading.ok && reading.odd === null

function quoteFields(frontmatter: string): string {
  const fields = readLines(frontmatter, readYaml)
  if (!fields.some(({ key, value }) => key === 'name' && value !== null)) return frontmatter
  const lines = frontmatter.replace(/\n$/, '').split('\n')
  const before = lines.slice(0, fields[0]?.from).map((line) => line.trim()).map((line) => (/^(#|$)/.test(line) ? line : `# ${line}`))
  return `${[...before, ...fields.flatMap((field) => quoteField(field, lines.slice(field.from, field.to)))].join('\n')}\n`
}

/** What a frontmatter says, for comparison. */
function meaning(frontmatter: string): string {
  const strict = readYaml(frontmatter)
  const fields = isSound(strict) ? strict.fields : readLines(frontmatter, readYaml)
  return JSON.stringify(fields.map((field) => [field.key, asWritten(field)]))
}

/** The lines of one field: as they are if they are YAML of the same value, else written anew. */
function quoteField(field: LineField, lines: readonly string[]): readonly string[] {
  const reading = readYaml(`${lines.join('\n')}\n`)
  const [own] = reading.ok && !reading.odd && reading.fields.length === 1 ? reading.fields : []
  if (own && own.key === field.key && !/^\s/.test(lines[0] ?? '') && same(own, field)) return lines
  // A map that is broken inside is for its author to mend: as one line of text it would only be harder to.
  if (!reading.ok && typeof field.value === 'string' && !fitsText(field.key) && /:\s*$/.test(lines[0] ?? '')) return lines
  return [`${quoteKey(field.key)}: ${written(field.value)}`, ...field.comments]
}

/** Whether a field may be one text. */
const fitsText = (key: string): boolean => {
  const field = fieldOf(key)
  return field !== undefined && fits(field, 'text')
}

const same = (a: RawField, b: RawField): boolean => JSON.stringify(asWritten(a)) === JSON.stringify(asWritten(b))

/** A number or boolean counts as the text it was written as: the line reader knows only text. */
const asWritten = ({ value, text }: RawField): unknown =>
  (typeof value === 'number' || typeof value === 'boolean' ? (text ?? String(value)) : value)

/** JSON is YAML, on one line; a list or map stays one. */
const written = (value: unknown): string => (value === null || value === undefined ? '' : JSON.stringify(value))

const quoteKey = (key: string): string => (/^[\p{L}_][\p{L}\p{N}_.-]*$/u.test(key) ? key : JSON.stringify(key))

/** Corrects field names, fixed values and bare names in YAML, in place. From the end, so that ranges stay right. */
function respell(frontmatter: string): string {
  const reading = readYaml(frontmatter)
  if (!reading.ok) return frontmatter
  const names = renamed(reading.fields)
  return reading.fields.toReversed().reduce((text, field) => {
    const name = names.get(field)
    const value = respelledValue(name ?? field.key, field)
    const revalued = value === undefined ? text : replace(text, field.span?.value, value)
    return name === undefined ? revalued : replace(revalued, field.span?.key, name)
  }, frontmatter)
}

const replace = (text: string, range: readonly [number, number] | null | undefined, by: string): string =>
  range ? text.slice(0, range[0]) + by + text.slice(range[1]) : text

/** The fields to rename: those that are another spelling of one the file does not have; of several, the first. */
function renamed(fields: readonly RawField[]): ReadonlyMap<RawField, string> {
  const taken = new Set(fields.map(({ key }) => key))
  const names = new Map<RawField, string>()
  for (const field of fields) {
    const name = respelled(field.key)
    if (name === undefined || taken.has(name)) continue
    taken.add(name)
    names.set(field, name)
  }
  return names
}

function respelledValue(key: string, { value, text }: RawField): string | undefined {
  const field = fieldOf(key)
  if (field === undefined) return undefined
  const bare = typeof value === 'number' || typeof value === 'boolean'
  if (bare && (field === 'name' || field === 'description')) return JSON.stringify(text ?? String(value))
  const values = knownValues(field)
  if (typeof value !== 'string' || values.includes(value)) return undefined
  return values.find((known) => known.toLowerCase() === value.trim().toLowerCase())
}
