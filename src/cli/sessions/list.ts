import type { SessionRow } from '../../journal/journal.ts'
import type { CliContext } from '../context.ts'
import { settingsDiagnosticsTo } from '../diagnostics.ts'
import { count, duration } from '../../sweep/figures.ts'
import { cost, moment, short } from '../figures.ts'
import { styleOf } from '../style.ts'
import type { Style } from '../style.ts'
import { figureColumns, renderTable } from '../table.ts'
import { writeJson } from '../write-all.ts'
import { paintStatus } from './paint-status.ts'

/** `cadre sessions list [--all]` (JRN-09). */
export async function listSessions(context: CliContext, { json, all }: { readonly json: boolean; readonly all: boolean }): Promise<void> {
  const { journal, root } = await context.open({ watch: false, onDiagnostic: settingsDiagnosticsTo(context) })
  const sessions = journal.sessions({ all })
  if (json) writeJson(context.stdout, sessions)
  else if (sessions.length === 0) context.stderr.write(`Nothing ran in ${root} yet.\n`)
  else context.stdout.write(render(sessions, styleOf(context.stdout, context.env)))
}

/** Columns below which the figures `show` also gives would leave a title no room. */
const NARROW = 100

function render(sessions: readonly SessionRow[], style: Style): string {
  const wide = style.width >= NARROW
  const columns = [
    { title: 'SESSION' }, { title: 'STARTED' }, { title: 'STATUS' }, ...figureColumns('TIME', ...(wide ? ['AGENTS', 'TOKENS'] : []), 'COST'),
    { title: 'TITLE', cut: 'end' } as const,
  ]
  return renderTable(columns, sessions.map((session) => [
    session.id,
    { text: moment(session.started), paint: style.paint.dim },
    { text: session.status, paint: paintStatus(session.status, style) },
    session.ended === null ? '' : duration(session.ended - session.started),
    ...(wide ? [count(session.agents), short(session.tokens)] : []),
    cost(session.costUsd),
    session.kind === 'sweep' ? `sweep: ${session.title}` : session.title,
  ]), style)
}
