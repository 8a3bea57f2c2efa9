import type { CadreEvent } from '../../core/events.ts'
import type { CliContext } from '../context.ts'
import { settingsDiagnosticsTo } from '../diagnostics.ts'
import { writeAll } from '../write-all.ts'
import { findSession } from './find.ts'

/**
 * `cadre sessions export <id>`: every event of a session, one JSON object a line, as `--output-format stream-json` gave them (CMD-04); with
 * `trace` instead one JSON object for a browser's tracing view.
 */
export async function exportSession(context: CliContext, id: string, { trace }: { readonly trace: boolean }): Promise<void> {
  const { journal } = await context.open({ watch: false, onDiagnostic: settingsDiagnosticsTo(context) })
  const session = findSession(journal, id)
  await writeAll(context.stdout, trace ? journal.trace([session.id]) : lines(journal.events({ session: session.id })))
}

function* lines(events: Iterable<CadreEvent>): Generator<string> {
  for (const event of events) yield `${JSON.stringify(event)}\n`
}
