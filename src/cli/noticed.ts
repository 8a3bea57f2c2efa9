import type { Diagnostic } from '../core/diagnostic.ts'
import type { CliContext } from './context.ts'
import { diagnosticsTo, isAboutAgentFile } from './diagnostics.ts'
import { counted } from '../sweep/figures.ts'

/**
 * Collects the diagnostics of a command whose answer is a list, and tells them on stderr below it (TYP-19): line by line; on a terminal those
 * about agent files, which would bury the list, by their number only.
 */
export function createNoticed(context: CliContext) {
  const diagnostics: Diagnostic[] = []
  return {
    onDiagnostic: (diagnostic: Diagnostic): void => void diagnostics.push(diagnostic),
    tell(): void {
      const summed = context.stderr.isTTY === true ? diagnostics.filter(isAboutAgentFile) : []
      diagnostics.filter((diagnostic) => !summed.includes(diagnostic)).forEach(diagnosticsTo(context))
      if (summed.length > 0) context.stderr.write(`\n${counted(summed.length, 'finding')} in agent files: see cadre agents lint\n`)
    },
  }
}
