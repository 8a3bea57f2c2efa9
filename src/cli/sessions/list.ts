import type { SessionRow } from '../../journal/journal.ts'
import type { CliContext } from '../context.ts'
import { settingsDiagnosticsTo } from '../diagnostics.ts'
import { cost, count, duration, moment, short } from '../figures.ts'
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

const render = (sessions: readonly SessionRow[], style: Style): string =>
  renderTable(
    [
      { title: 'SESSION' }, { title: 'STARTED' }, { title: 'STATUS' }, ...figureColumns('TIME', 'AGENTS', 'TOKENS', 'COST'),
      { title: 'TITLE', cut: 'end' },
    ],
    sessions.map((session) => [
      session.id,
      { text: moment(session.started), paint: style.paint.dim },
      { text: session.status, paint: paintStatus(session.status, style) },
      session.ended === null ? '' : duration(session.ended - session.started),
      count(session.agents),
      short(session.tokens),
      cost(session.costUsd),
      session.kind === 'sweep' ? `sweep: ${session.title}` : session.title,
    ]),
    style,
  )
