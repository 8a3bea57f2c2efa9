import type { Diagnostic } from '../core/diagnostic.ts'
import { formatDiagnostic } from '../core/diagnostic.ts'
import { printable } from '../sweep/terminal-text.ts'
import type { CliContext } from './context.ts'
import { count, several } from './figures.ts'

/** Lines a listing adds to stderr at most. */
const MOST_LINES = 10

/**
 * Collects the diagnostics of a command whose answer is a list, and tells them on stderr below it: warnings and errors line by line, notes
 * by their number only (TYP-19).
 */
export function createNoticed({ stderr }: CliContext) {
  const diagnostics: Diagnostic[] = []
  return {
    diagnostics: diagnostics as readonly Diagnostic[],
    onDiagnostic: (diagnostic: Diagnostic): void => void diagnostics.push(diagnostic),
    tell(): void {
      const grave = diagnostics.filter(({ severity }) => severity !== 'note')
      for (const diagnostic of grave.slice(0, MOST_LINES)) stderr.write(`${printable(formatDiagnostic(diagnostic))}\n`)
      const left = diagnostics.length - Math.min(grave.length, MOST_LINES)
      if (left > 0) stderr.write(`${grave.length > 0 ? `${count(left)} more` : several(left, 'note')}: see cadre agents lint\n`)
    },
  }
}
