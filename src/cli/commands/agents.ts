import type { Command } from 'commander'
import { explain } from '../agents/explain.ts'
import { list } from '../agents/list.ts'
import { show } from '../agents/show.ts'
import type { CliContext } from '../context.ts'

type Flags = { readonly json?: boolean; readonly fix?: boolean }

/** `cadre agents …`: what agent types there are, and what becomes of each (CMD-07). */
export function register(program: Command, context: CliContext): void {
  const agents = program.command('agents').description('list, show, check and explain agent types')
  agents
    .command('list')
    .description('the types a run here would see, where each comes from, and what was shadowed or skipped')
    .option('--json', 'print JSON')
    .action(async ({ json = false }: Flags) => list(context, { json }))
  agents
    .command('show <name>')
    .description('one type: its fields and its role prompt')
    .option('--json', 'print JSON')
    .action(async (name: string, { json = false }: Flags) => show(context, name, { json }))
  agents
    .command('lint [path]')
    .description('judge agent files: a file, a folder, or without a path your own and the project\'s')
    .option('--fix', 'repair quoting, case and field names (without a path, in the project\'s files only)')
    .option('--json', 'print JSON')
    .action(async (path: string | undefined, { json = false, fix = false }: Flags) => {
      const { lintAgents } = await import('../agents/lint.ts')
      await lintAgents(context, path, { json, fix })
    })
  agents
    .command('explain <name>')
    .description('the tools a type really gets, the layer that took each other one, its model and its price per start')
    .option('--json', 'print JSON')
    .action(async (name: string, { json = false }: Flags) => explain(context, name, { json }))
}
