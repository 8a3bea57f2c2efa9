import type { Diagnostic } from '../core/diagnostic.ts'
import type { CliContext } from './context.ts'
import { diagnosticsTo, isAboutAgentFile } from './diagnostics.ts'
import { several } from './figures.ts'

/**
 * Collects the diagnostics of a command whose answer is a list, and tells them on stderr below it (TYP-19): line by line; on a terminal those
 * about agent files, which would bury the list, by their number only.
 */
export function createNoticed(context: CliContext) {
  const diagnostics: Diagnostic[] = []
  return {
    onDiagnostic: (diagnostic: Diagnostic): void => void diagnostics.push(diagnostic),
    tell(): void {
      const counted = context.stderr.isTTY === true ? diagnostics.filter(isAboutAgentFile) : []
      diagnostics.filter((diagnostic) => !counted.includes(diagnostic)).forEach(diagnosticsTo(context))
      if (counted.length > 0) context.stderr.write(`\n${several(counted.length, 'finding')} in agent files: see cadre agents lint\n`)
    },
  }
}
