import type { AgentRow, SessionRow } from '../../journal/journal.ts'
import { totalTokens } from '../../core/contract.ts'
import type { CliContext } from '../context.ts'
import { settingsDiagnosticsTo } from '../diagnostics.ts'
import { renderFields } from '../fields.ts'
import { count, duration } from '../../sweep/figures.ts'
import { cost, moment, short } from '../figures.ts'
import { styleOf } from '../style.ts'
import type { Style } from '../style.ts'
import { figureColumns, renderTable } from '../table.ts'
import { writeJson } from '../write-all.ts'
import { findSession } from './find.ts'
import { paintStatus } from './paint-status.ts'

/** `cadre sessions show <id>`: the session and its agents, children below their parents. */
export async function showSession(context: CliContext, id: string, { json }: { readonly json: boolean }): Promise<void> {
  const { journal } = await context.open({ watch: false, onDiagnostic: settingsDiagnosticsTo(context) })
  const session = findSession(journal, id)
  const agents = journal.agents(session.id)
  if (json) writeJson(context.stdout, { ...session, agents })
  else context.stdout.write(render(session, asTree(agents), styleOf(context.stdout, context.env)))
}

function render(session: SessionRow, agents: readonly AgentRow[], style: Style): string {
  const facts = renderFields([
    ['kind', session.kind],
    ['status', session.status],
    ['started', moment(session.started)],
    ['time', session.ended === null ? null : duration(session.ended - session.started)],
    ['folder', session.cwd],
    ['spent', `${count(session.turns)} turns, ${count(session.tokens)} tokens, ${cost(session.costUsd)}`],
  ], style)
  const table = renderTable(
    [
      { title: 'AGENT', cut: 'end' }, { title: 'ID' }, { title: 'TYPE', cut: 'end' }, { title: 'STATUS' },
      ...figureColumns('TURNS', 'CALLS', 'TOKENS', 'COST', 'TIME'),
    ],
    agents.map((agent) => [
      `${INDENT.repeat(agent.depth)}${agent.title}`,
      { text: agent.id, paint: style.paint.dim },
      agent.type,
      { text: agent.cause === null ? agent.status : `${agent.status} (${agent.cause})`, paint: paintStatus(agent.status, style) },
      count(agent.turns),
      count(agent.toolCalls),
      short(totalTokens(agent.usage)),
      cost(agent.costUsd),
      agent.started === null || agent.ended === null ? '' : duration(agent.ended - agent.started),
    ]),
    style,
  )
  return `${style.paint.bold(session.id)}\n${facts}${table === '' ? '' : `\n${table}`}`
}

/** Not a space: those at the start of a cell are taken away. */
const INDENT = '· '

/** Children right below their parent, oldest first. One whose parent is not here (a sweep's root run has no row) stands by itself. */
export function asTree(agents: readonly AgentRow[]): readonly AgentRow[] {
  const here = new Set(agents.map(({ id }) => id))
  const below = Map.groupBy(agents, ({ parent }) => (parent !== null && here.has(parent) ? parent : ''))
  const withChildren = (agent: AgentRow, depth: number): readonly AgentRow[] =>
    [{ ...agent, depth }, ...(below.get(agent.id) ?? []).flatMap((child) => withChildren(child, depth + 1))]
  return (below.get('') ?? []).flatMap((agent) => withChildren(agent, 0))
}
