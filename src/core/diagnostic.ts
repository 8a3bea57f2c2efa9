export type Severity = 'note' | 'warning' | 'error'

/** One finding about a file, a setting or a type: given once per version, never stopping anything else (TYP-19). */
export type Diagnostic = {
  /** A file, or the name of what was given in code (`--agents`, `CADRE_MODEL`). */
  readonly path: string
  /** 1-based. */
  readonly line: number
  readonly severity: Severity
  readonly message: string
  readonly remedy: string
}

/** `<path>:<line>: <severity>: <what is wrong>; <remedy>`, always one line. */
export const formatDiagnostic = ({ path, line, severity, message, remedy }: Diagnostic): string =>
  `${path}:${line}: ${severity}: ${message}${remedy ? `; ${remedy}` : ''}`.replaceAll(/\s*\r?\n\s*/g, ' ')
