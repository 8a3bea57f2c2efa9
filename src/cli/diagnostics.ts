import type { Diagnostic } from '../core/diagnostic.ts'
import { formatDiagnostic } from '../core/diagnostic.ts'
import { printable } from './terminal-text.ts'
import type { CliContext } from './context.ts'

/** Headless, each diagnostic is one line on stderr (TYP-19). It may quote a stranger's file: nothing in it moves the cursor. */
export const diagnosticsTo = ({ stderr }: CliContext) => (diagnostic: Diagnostic): void => {
  stderr.write(`${printable(formatDiagnostic(diagnostic))}\n`)
}

/** As `diagnosticsTo`, for commands that run no agent: without what concerns agent files. */
export function settingsDiagnosticsTo(context: CliContext): (diagnostic: Diagnostic) => void {
  const tell = diagnosticsTo(context)
  return (diagnostic) => {
    if (!isAboutAgentFile(diagnostic)) tell(diagnostic)
  }
}

export const isAboutAgentFile = ({ path }: Diagnostic): boolean => path.endsWith('.md')
