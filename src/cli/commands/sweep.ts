import type { Command } from 'commander'
import { overOf, overOptions, overRequest } from '../sweep/over.ts'
import type { OverFlags } from '../sweep/over.ts'
import { createProgressLine } from '../sweep/progress.ts'
import { exitCodeOf } from '../../sweep/summary.ts'
import { renderReport } from '../sweep/terminal-report.ts'
import type { CliContext } from '../context.ts'
import { diagnosticsTo } from '../diagnostics.ts'
import { parseCount, readSchema } from './run.ts'

type Flags = OverFlags & {
  readonly batch: number
  readonly schema?: string
  readonly out?: string
  readonly reduce?: string
  readonly json?: boolean
  readonly rows: number
}

const ROWS = 20

const PATHS = `
Patterns, files and folders on the command line are relative to the current folder, as in any command. Items that are files are named
relative to the project root (the top of the git repository), on the screen, in results.jsonl, report.md and report.sarif, and for agents.
`

/** `cadre sweep`: one agent per item (CMD-05, 12). */
export function register(program: Command, context: CliContext): void {
  const command = program
    .command('sweep [prompt]')
    .description('run an agent once per file, row or line')
  overOptions(command, 'general')
    .option('--batch <n>', 'items given to one agent', parseCount, 1)
    .option('--schema <file>', 'JSON Schema file each answer must fit')
    .option('--out <folder>', 'write results.jsonl, report.md and report.sarif')
    .option('--reduce <prompt>', 'run one last agent over all results')
    .option('--rows <n>', 'findings to print', parseCount, ROWS)
    .option('--json', 'print the summary as JSON')
    .addHelpText('after', PATHS)
    .action(async (prompt: string | undefined, flags: Flags) => {
      const over = overOf(flags, 'sweep over')
      const orchestrator = await context.open({ watch: false, onDiagnostic: diagnosticsTo(context) })
      const progress = createProgressLine({ stream: context.stderr, isTTY: context.stderr.isTTY === true, now: () => performance.now() })
      const schema = flags.schema === undefined ? null : await readSchema(flags.schema)
      const summary = await orchestrator.sweep({
        ...overRequest(over, prompt, flags, context, progress),
        batch: flags.batch,
        schema,
        out: flags.out ?? null,
        reduce: flags.reduce ?? null,
      }).finally(() => progress.end())
      if (flags.json) context.stdout.write(`${JSON.stringify(summary)}\n`)
      else {
        const colour = context.stdout.isTTY === true && !context.env['NO_COLOR']
        context.stdout.write(renderReport(summary, { width: context.stdout.columns ?? 80, colour, maxRows: flags.rows }))
      }
      context.setExitCode(exitCodeOf(summary))
    })
}
