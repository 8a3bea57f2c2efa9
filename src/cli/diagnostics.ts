import type { Diagnostic } from '../core/diagnostic.ts'
import { formatDiagnostic } from '../core/diagnostic.ts'
import type { CliContext } from './context.ts'

/** Headless, each diagnostic is one line on stderr (TYP-19). */
export const diagnosticsTo = ({ stderr }: CliContext) => (diagnostic: Diagnostic): void => {
  stderr.write(`${formatDiagnostic(diagnostic)}\n`)
}
