import type { Command } from 'commander'
import type { CliContext } from '../context.ts'
import { exportSession } from '../sessions/export.ts'
import { listSessions } from '../sessions/list.ts'
import { showSession } from '../sessions/show.ts'
import { outputFormat, resume } from './run.ts'
import type { ResumeFlags } from './run.ts'

type Flags = { readonly json?: boolean; readonly all?: boolean }

/** `cadre sessions …`: what ran in this root, from its journal (CMD-08). */
export function register(program: Command, context: CliContext): void {
  const sessions = program.command('sessions').description('look at what ran here')
  sessions
    .command('list')
    .description('the sessions of this root, newest first')
    .option('--all', 'also sessions that another session started')
    .option('--json', 'print JSON')
    .action(async ({ json = false, all = false }: Flags) => listSessions(context, { json, all }))
  sessions
    .command('show <id>')
    .description('the agents of a session (its id, or how the id begins)')
    .option('--json', 'print JSON')
    .action(async (id: string, { json = false }: Flags) => showSession(context, id, { json }))
  sessions
    .command('resume <id>')
    .description('go on with a session: with -p a new prompt, without one where it was interrupted')
    .option('-p, --print [prompt]', 'what to ask next (or what stands on stdin)')
    .addOption(outputFormat())
    .option('--verbose', 'tell every tool call on stderr')
    .action(async (id: string, flags: ResumeFlags) => resume(id, flags, context))
  sessions
    .command('export <id>')
    .description('all events of a session as JSON lines')
    .option('--trace', 'where its time went, for chrome://tracing or ui.perfetto.dev')
    .action(async (id: string, { trace = false }: { readonly trace?: boolean }) => exportSession(context, id, { trace }))
}
