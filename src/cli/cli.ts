import { Command, CommanderError } from 'commander'
import { CadreError, messageOf } from '../core/errors.ts'
import type { Orchestrator } from '../api.ts'
import { nearest } from '../core/nearest.ts'
import { VERSION } from '../version.ts'
import * as agents from './commands/agents.ts'
import * as bench from './commands/bench.ts'
import * as edit from './commands/edit.ts'
import * as doctor from './commands/doctor.ts'
import * as models from './commands/models.ts'
import * as run from './commands/run.ts'
import * as sessions from './commands/sessions.ts'
import * as sweep from './commands/sweep.ts'
import * as trust from './commands/trust.ts'
import { watchReader, written } from './closed-reader.ts'
import type { CliContext } from './context.ts'
import { errorText } from './error-text.ts'
import { EXIT, exitCodeOf } from './exit-code.ts'

/** Names kept for commands to come (CMD-11). */
const RESERVED = ['mcp', 'acp', 'ui', 'worker']

/** Runs one command line; resolves with the exit code of CMD-03. Errors are one message on stderr, never a stack trace. */
export async function main(argv: readonly string[]): Promise<number> {
  const { stdout, stderr } = process
  const opened: Orchestrator[] = []
  const interrupt = new AbortController()
  let exitCode: number = EXIT.completed
  const context: CliContext = {
    cwd: process.cwd(),
    env: process.env,
    stdin: process.stdin,
    stdout,
    stderr,
    interrupted: interrupt.signal,
    async open(options = {}) {
      const { createOrchestrator } = await import('../orchestrator.ts') // most of what there is to load: `--help` does without
      const orchestrator = await createOrchestrator({ cwd: context.cwd, env: context.env, ...options })
      opened.push(orchestrator)
      return orchestrator
    },
    setExitCode(code) {
      exitCode = code
    },
  }
  watchReader(context)
  const forget = onInterrupt(() => {
    exitCode = EXIT.interrupted
    interrupt.abort(new CadreError('STOPPED', 'Interrupted'))
  })
  const told = new Set<string>()
  /** What went wrong while closing is often what ended the command: once is enough. */
  const tell = (error: unknown) => {
    if (!told.has(messageOf(error))) stderr.write(`cadre: ${errorText(messageOf(error))}\n`)
    told.add(messageOf(error))
  }
  try {
    const cadre = program(context)
    refuseUnknownCommand(argv, cadre)
    await cadre.parseAsync([...argv], { from: 'user' })
  } catch (error) {
    if (!(error instanceof CommanderError)) tell(error)
    exitCode = exitCodeOf(error)
  }
  for (const closed of await Promise.allSettled(opened.map((orchestrator) => orchestrator.close()))) {
    if (closed.status === 'fulfilled') continue
    tell(closed.reason)
    if (exitCode === EXIT.completed) exitCode = EXIT.failed
  }
  await written(stdout)
  forget()
  return interrupt.signal.aborted ? EXIT.interrupted : exitCode
}

function program(context: CliContext): Command {
  const cadre = new Command('cadre')
    .description('Run coding sub-agents in worker threads, many at a time, and lose nothing.')
    .version(VERSION)
    .showSuggestionAfterError()
    .helpCommand(false)
    .enablePositionalOptions()
    .configureOutput({
      writeOut: (text) => context.stdout.write(text),
      writeErr: (text) => context.stderr.write(text),
      outputError: (text, write) => write(text.replace(/^error: /, 'cadre: ')),
    })
    .exitOverride()
  run.register(cadre, context)
  for (const command of [sweep, edit, agents, sessions, models, trust, doctor, bench]) command.register(cadre, context)
  for (const name of RESERVED) {
    cadre.command(name, { hidden: true }).allowUnknownOption().allowExcessArguments().action(() => {
      throw new CadreError('USAGE', `"${name}" is reserved for a later version of Cadre and does nothing yet.`)
    })
  }
  for (const command of cadre.commands) inherit(command, cadre)
  return cadre
}

/** A mistyped command names the nearest one, before its flags are taken for the program's own. */
function refuseUnknownCommand([first]: readonly string[], cadre: Command): void {
  if (first === undefined || first.startsWith('-') || cadre.commands.some((command) => command.name() === first)) return
  const close = nearest(first, cadre.createHelp().visibleCommands(cadre).map((command) => command.name()))
  throw new CadreError('USAGE', `Unknown command "${first}"${close ? `, did you mean "${close}"?` : '.'} A prompt goes after -p; \`cadre --help\` lists the commands.`)
}

/** Sub-commands answer errors and suggestions as the program does. */
function inherit(command: Command, from: Command): void {
  command.copyInheritedSettings(from)
  for (const below of command.commands) inherit(below, command)
}

/** The first signal asks for an orderly end, the second ends the process. */
function onInterrupt(act: () => void): () => void {
  let asked = false
  const onSignal = () => {
    if (asked) process.exit(EXIT.interrupted)
    asked = true
    act()
  }
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, onSignal)
  return () => {
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.off(signal, onSignal)
  }
}
