import type { Diagnostic, Severity } from '../core/diagnostic.ts'

/** One `key: value` of a frontmatter, before any schema: what the YAML reader and the line reader both give. */
export type RawField = {
  readonly key: string
  /** Line of the key, counted from 0 inside the frontmatter. */
  readonly line: number
  /** The value as YAML reads it; null when empty; undefined when it cannot be plain data (too deep, too many aliases). */
  readonly value: unknown
  /** A scalar as written, so that `name: 007` stays `007` (TYP-08); null for lists and maps. */
  readonly text: string | null
  /** Whether YAML took the end of the text for a comment. */
  readonly cut: boolean
  /** Character ranges inside the frontmatter, for fixes; the line reader knows none. */
  readonly span: { readonly key: readonly [number, number]; readonly value: readonly [number, number] | null } | null
}

/** Fields whose value is prose: taken as it stands, and lines below that are no known key belong to it. */
export const PROSE_FIELDS: ReadonlySet<string> = new Set(['description', 'initialPrompt'])

/**
 * What strict YAML makes of a text. `odd` is prose that YAML took for fields, such as an unindented line `when it breaks: mend it` below
 * the description. When it is not valid: the line of the first error, and whether it is valid text but no map. Lines count from 0.
 */
export type YamlReading =
  | { readonly ok: true; readonly fields: readonly RawField[]; readonly odd: { readonly line: number; readonly text: string } | null }
  | { readonly ok: false; readonly line: number; readonly prose: boolean }

export type ReadYaml = (text: string) => YamlReading

/** Takes one finding about the text at hand. `line` is a line of the file, from 1. */
export type Report = (severity: Severity, line: number, message: string, remedy: string) => void

/** A report that fills a list. */
export const collect = (path: string, into: Diagnostic[]): Report => (severity, line, message, remedy) => {
  into.push({ path, line, severity, message, remedy })
}
