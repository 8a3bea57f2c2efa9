import matter from 'gray-matter'
import { isAlias, isCollection, isMap, isScalar, isSeq, parseDocument } from 'yaml'
import type { AgentType } from '../core/agent-type.ts'
import type { Diagnostic } from '../core/diagnostic.ts'
import { buildType } from './build-type.ts'
import { frontmatterBounds } from './frontmatter-bounds.ts'
import { readLines } from './line-reader.ts'
import type { Place } from './place.ts'
import type { RawField, ReadYaml, Report } from './raw-field.ts'
import { collect } from './raw-field.ts'

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
  const type = buildType({ raw, firstLine: bounds.firstLine, body: file.body, bodyLine: bounds.bodyLine, source: text }, at, report)
  return { type, kind: type ? 'type' : 'skipped', diagnostics }
}

/** gray-matter with YAML as its only language: any other one, known to it or not, gives null and is never looked at (TYP-05). */
export function splitFile(normal: string): { readonly frontmatter: string; readonly body: string } | null {
  if (!['', 'yaml', 'yml'].includes(matter.language(normal).name.toLowerCase())) return null
  const file = matter(normal, { language: 'yaml', delimiters: ['---', '---\n'], engines: ENGINES })
  return { frontmatter: file.matter.replace(/^\n/, ''), body: file.content }
}

const refuse = (): never => {
  throw new Error('a frontmatter language other than YAML is never read')
}

/** The ladder below does the reading, with lines; gray-matter only finds the pieces. Its own engines, which evaluate code, are replaced. */
const ENGINES = { yaml: () => ({}), json: refuse, javascript: refuse, js: refuse, coffee: refuse, coffeescript: refuse, cson: refuse }

/** The parse ladder (TYP-03, TYP-04): raw fields, or the line of the file that cannot be read. */
function climb(frontmatter: string, firstLine: number, report: Report): readonly RawField[] | number {
  const strict = readYaml(frontmatter)
  if (strict.ok) return strict.fields
  const line = firstLine + strict.line
  const lines = readLines(frontmatter, readYaml)
  if (!lines.some(({ key, value }) => key === 'name' && value !== null)) return strict.prose ? [] : line
  report('warning', line, `frontmatter is not valid YAML (line ${line})`, 'read line by line')
  return lines
}

/** Aliases one value may resolve; more is a resource attack. */
const MAX_ALIASES = 50

/** Strict YAML 1.2. Never throws. */
export const readYaml: ReadYaml = (text) => {
  try {
    const document = parseDocument(text, { version: '1.2', strict: true, uniqueKeys: true, prettyErrors: false, logLevel: 'silent' })
    const [error] = document.errors
    if (error) return { ok: false, line: lineAt(text, error.pos[0]), prose: false }
    const top = document.contents
    if (top === null) return { ok: true, fields: [] }
    if (!isMap(top)) return { ok: false, line: 0, prose: isScalar(top) }
    const plain: Plain = (node) => node.toJS(document, { maxAliasCount: MAX_ALIASES })
    return { ok: true, fields: top.items.map(({ key, value }) => rawField(key, value, text, plain)) }
  } catch {
    return { ok: false, line: 0, prose: false } // nested deeper than the stack
  }
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

const lineAt = (text: string, offset: number): number => text.slice(0, offset).split('\n').length - 1
