import type { Command } from 'commander'
import type { SweepRequest } from '../../api.ts'
import { CadreError } from '../../core/errors.ts'
import { parseCount } from '../commands/run.ts'
import type { CliContext } from '../context.ts'
import type { ProgressLine } from './progress.ts'

/** What a command with one agent per item is told. */
export type OverFlags = { readonly over?: string; readonly agent?: string; readonly model?: string; readonly parallel?: number }

/** The flags of a command with one agent per item. `agent`: the type it runs unless told. */
export const overOptions = (command: Command, agent: string): Command => command
  .option('--over <items>', 'glob patterns, a .csv or .jsonl file, or - for lines of stdin')
  .option('--agent <type>', 'agent type to run', agent)
  .option('--model <model>', 'model of language-model agents')
  .option('--parallel <n>', 'agents at once (default: cores for programs, 8 for models)', parseCount)

/** Throws USAGE without `--over`. `what`: what is to be said. */
export function overOf({ over }: OverFlags, what: string): string {
  if (over !== undefined) return over
  throw new CadreError('USAGE', `Say what to ${what}: --over 'src/**/*.ts', --over rows.csv, --over rows.jsonl, or --over - for lines of stdin.`)
}

/** What these flags ask for. */
export const overRequest = (over: string, prompt: string | undefined, flags: OverFlags, { interrupted }: CliContext, progress: ProgressLine): SweepRequest => ({
  over,
  prompt: prompt ?? null,
  signal: interrupted,
  onProgress: (state) => progress.update(state),
  ...(flags.agent !== undefined && { agent: flags.agent }),
  ...(flags.model !== undefined && { model: flags.model }),
  ...(flags.parallel !== undefined && { parallel: flags.parallel }),
})
