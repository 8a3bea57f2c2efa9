import type { Command } from 'commander'
import { InvalidArgumentError } from 'commander'
import type { CliContext } from '../context.ts'
import { styleOf } from '../style.ts'
import { writeJson } from '../write-all.ts'

/** Each sub-agent that waits for its model holds a connection, and some systems allow a process no more than 1,024 open files. */
const WIDEST = 500

/** `cadre bench`: how fast Cadre delegates on this machine; offline, with a fake provider (CMD-10). */
export function register(program: Command, context: CliContext): void {
  program
    .command('bench')
    .description('measure spawn time, throughput by width and memory per agent on this machine, offline')
    .option('--widths <list>', 'sub-agents at once, separated by commas (default: 1,8,32,100)', parseWidths)
    .option('--json', 'print JSON')
    .action(async ({ widths, json = false }: { readonly widths?: readonly number[]; readonly json?: boolean }) => {
      const [{ BENCH_DEFAULTS, runBench }, { renderBench }] = await Promise.all([import('../bench/run-bench.ts'), import('../bench/render-bench.ts')])
      const report = await runBench({
        ...BENCH_DEFAULTS,
        ...(widths && { widths }),
        signal: context.interrupted,
        onProgress(what) {
          if (context.stderr.isTTY === true) context.stderr.write(`measuring: ${what}\n`)
        },
      })
      if (json) writeJson(context.stdout, report)
      else context.stdout.write(renderBench(report, styleOf(context.stdout, context.env)))
    })
}

function parseWidths(written: string): readonly number[] {
  const widths = written.split(',').map(Number)
  if (widths.every((width) => Number.isInteger(width) && width >= 1 && width <= WIDEST)) return widths
  throw new InvalidArgumentError(`It must be whole numbers from 1 to ${WIDEST}, separated by commas.`)
}
