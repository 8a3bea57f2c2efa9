import matter from 'gray-matter'
import type { Document } from 'yaml'
import { isAlias, isCollection, isMap, isScalar, isSeq, parseDocument, visit } from 'yaml'
import type { AgentType } from '../core/agent-type.ts'
import type { Diagnostic } from '../core/diagnostic.ts'
import { buildType } from './build-type.ts'
import { frontmatterBounds } from './frontmatter-bounds.ts'
import { readLines } from './line-reader.ts'
import { oddField } from './odd-field.ts'
import type { Place } from './place.ts'
import type { RawField, ReadYaml, Report } from './raw-field.ts'
import { collect } from './raw-field.ts'
import { lineAt, tooDeep } from './text-places.ts'

/** `documentation`: no frontmatter (TYP-06). `skipped`: meant as a type and unusable; the last diagnostic says why. */
export type ParsedFile = {
  readonly type: AgentType | null
  readonly kind: 'type' | 'documentation' | 'skipped'
  readonly diagnostics: readonly Diagnostic[]
}

/**
 * Reads one agent file (TYP-01…14): strict YAML first, then line by line; nothing in it is ever evaluated. `text` may begin with a BOM and
 * have CRLF ends. Diagnostics name lines of the file. Never throws.
 */
export function parseAgentFile(text: string, at: Place): ParsedFile {
  const diagnostics: Diagnostic[] = []
  const report = collect(at.path, diagnostics)
  const skipped = (line: number, message: string, remedy: string): ParsedFile => {
    report('error', line, message, remedy)
    return { type: null, kind: 'skipped', diagnostics }
  }
  const bounds = frontmatterBounds(text)
  if (bounds.kind === 'none') return { type: null, kind: 'documentation', diagnostics }
  if (bounds.kind === 'unreadable') return skipped(bounds.line, `frontmatter cannot be read (line ${bounds.line})`, bounds.remedy)
  const file = splitFile(bounds.normal)
  if (!file) return skipped(bounds.firstLine - 1, `frontmatter language "${bounds.opening}" is not accepted`, 'use YAML')

  const raw = climb(file.frontmatter, bounds.firstLine, report)
  if (typeof raw === 'number') return skipped(raw, `frontmatter cannot be read (line ${raw})`, 'write it as YAML, with a line `name: …`')
  if (raw.length > MAX_FIELDS) {
    const remedy = `it has ${raw.length} fields; keep to those of an agent file`
    return skipped(bounds.firstLine, `frontmatter cannot be read (line ${bounds.firstLine})`, remedy)
  }
  const type = buildType({ raw, firstLine: bounds.firstLine, body: file.body, bodyLine: bounds.bodyLine, source: text }, at, report)
  return { type, kind: type ? 'type' : 'skipped', diagnostics }
}

/** gray-matter with YAML as its only language: any other one, known to it or not, gives null and is never looked at (TYP-05). */
export function splitFile(normal: string): { readonly frontmatter: string; readonly body: string } | null {
  if (!['', 'yaml', 'yml'].includes(matter.language(normal).name.toLowerCase())) return null
  const file = matter(normal, { language: 'yaml', delimiters: ['---', '---\n'], engines: ENGINES })
  // gray-matter's piece runs from the line break after the opening dashes to before the one above the closing ones.
  return { frontmatter: file.matter === '' ? '' : `${file.matter.slice(1)}\n`, body: file.content }
}

const refuse = (): never => {
  throw new Error('a frontmatter language other than YAML is never read')
}

/** The ladder below does the reading, with lines; gray-matter only finds the pieces. Its own engines, which evaluate code, are replaced. */
const ENGINES = { yaml: () => ({}), json: refuse, javascript: refuse, js: refuse, coffee: refuse, coffeescript: refuse, cson: refuse }

/** The parse ladder (TYP-03, TYP-04): raw fields, or the line of the file that cannot be read. */
function climb(frontmatter: string, firstLine: number, report: Report): readonly RawField[] | number {
  const strict = readYaml(frontmatter)
  if (strict.ok && !strict.odd) return strict.fields
  const lines = readLines(frontmatter, readYaml)
  const named = lines.some(({ key, value }) => key === 'name' && value !== null)
  if (strict.ok) {
    if (!named || !strict.odd) return strict.fields
    const remedy = 'indent it below the description, or quote the description'
    report('warning', firstLine + strict.odd.line, `"${strict.odd.text}" is no field, so it is read as text`, remedy)
    return lines
  }
  const line = firstLine + strict.line
  if (!named) return strict.prose ? [] : line
  report('warning', line, `frontmatter is not valid YAML (line ${line})`, 'read line by line')
  return lines
}

/** Top-level fields; there are about thirty known ones, and each unknown one is a finding. */
const MAX_FIELDS = 200

/** Aliases one value may resolve; more is a resource attack. */
const MAX_ALIASES = 50

/** Strict YAML 1.2. Never throws. */
export const readYaml: ReadYaml = (text) => {
  const deep = tooDeep(text)
  if (deep !== undefined) return { ok: false, line: lineAt(text, deep), prose: false }
  try {
    // `silent` would also silence that a second document follows, and lose its fields.
    const document = parseDocument(text, { version: '1.2', strict: true, uniqueKeys: false, prettyErrors: false, logLevel: 'error' })
    const error = errorAt(document, text) ?? faultyNode(document)
    if (error !== undefined) return { ok: false, line: lineAt(text, error), prose: false }
    const top = document.contents
    if (top === null) return { ok: true, fields: [], odd: null }
    if (!isMap(top)) return { ok: false, line: 0, prose: isScalar(top) }
    const plain: Plain = (node) => node.toJS(document, { maxAliasCount: MAX_ALIASES })
    const fields = top.items.map(({ key, value }) => rawField(key, value, text, plain))
    return { ok: true, fields, odd: oddField(fields, top.items.map(({ value }) => isMap(value) && !value.flow)) }
  } catch {
    return { ok: false, line: 0, prose: false } // nested deeper than the stack
  }
}

/** Where the first error is; one at the very end (a quote never closed) is the last field's. */
function errorAt({ errors, contents }: Document, text: string): number | undefined {
  const at = errors[0]?.pos[0]
  if (at === undefined || at < text.trimEnd().length || !isMap(contents)) return at
  const key = contents.items.at(-1)?.key
  return isScalar(key) ? key.range?.[0] : at
}

/**
 * Where a key is given twice in one map (the parser's own check is quadratic), or an alias stands that no anchor before it defines: more
 * often Markdown (`*bold*`) than YAML.
 */
function faultyNode(document: Document): number | undefined {
  const anchors = new Set<string>()
  let fault: number | undefined
  visit(document, {
    Alias(_key, { source, range }) {
      if (anchors.has(source)) return undefined
      fault = range?.[0] ?? 0
      return visit.BREAK
    },
    Map(_key, { items, anchor }) {
      if (anchor !== undefined) anchors.add(anchor)
      const keys = new Set<unknown>()
      for (const { key } of items) {
        if (!isScalar(key) || !keys.has(key.value)) keys.add(isScalar(key) ? key.value : key)
        else fault ??= key.range?.[0] ?? 0
      }
      return fault === undefined ? undefined : visit.BREAK
    },
    Scalar(_key, { anchor }) {
      if (anchor !== undefined) anchors.add(anchor)
    },
    Seq(_key, { anchor }) {
      if (anchor !== undefined) anchors.add(anchor)
    },
  })
  return fault
}

type Plain = (node: { toJS(document: unknown, options: { maxAliasCount: number }): unknown }) => unknown

function rawField(key: unknown, node: unknown, text: string, plain: Plain): RawField {
  const at = isScalar(key) ? key.range : undefined
  const value = isScalar(node) ? node.range : undefined
  return {
    key: isScalar(key) ? String(key.value) : '{…}',
    line: at ? lineAt(text, at[0]) : 0,
    value: valueOf(node, text, plain),
    text: isScalar(node) ? (node.source ?? null) : null,
    cut: isScalar(node) && node.type === 'PLAIN' && Boolean(node.comment),
    span: at ? { key: [at[0], at[1]], value: value ? [value[0], value[1]] : null } : null,
  }
}

function valueOf(node: unknown, text: string, plain: Plain): unknown {
  if (isScalar(node)) return node.value
  if (isSeq(node) && node.flow && node.range) {
    // A flow list was split at the commas inside brackets too: hand on its text instead (TYP-11).
    const source = text.slice(node.range[0], node.range[1])
    if (source.includes('(')) return source
  }
  try {
    return isCollection(node) || isAlias(node) ? plain(node) : null
  } catch {
    return undefined // too many aliases, or one to nothing: this field is refused, not the file
  }
}
